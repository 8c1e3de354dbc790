import { useLayoutEffect, useRef, type ComponentProps, type ReactNode } from "react";
import { X } from "lucide-react";
import * as Dialog from "radix-ui/dialog";
import { useT } from "@/lib/i18n";
import { cn } from "@/lib/cn";
import { IconButton } from "@/components/ui/icon-button";

/** A dialog, open or closed. Its child is a DialogContent. */
export const DialogRoot = Dialog.Root;
/** The visible title of a dialog, which is also its accessible name. */
export const DialogTitle = Dialog.Title;
/** A text in a dialog that screen readers announce after the title. */
export const DialogDescription = Dialog.Description;

// The opener of a dialog is the element that had the focus before the dialog opened. When one dialog replaces another, the first
// one unmounts before the second one opens, and the focus is on <body> in between. So the second dialog inherits the opener of the
// first: closedOpener is the opener of a dialog that has just unmounted, or null.
let closedOpener: Element | null = null;

type DialogContentProps = ComponentProps<typeof Dialog.Content> & {
  /** Accessible name of a dialog without a DialogTitle. */
  label?: string;
  /** Colour of the band at the foot of the dialog. */
  footColour?: "band" | "danger";
  /** Classes of the scrolling overlay behind the dialog. By default it centres the dialog, with a margin of 16 px. */
  overlayClassName?: string;
  children: ReactNode;
};

/**
 * A modal dialog in the style of the site. On close it returns the focus to its opener. The caller sets size and padding by
 * `className`.
 */
export function DialogContent({
  label,
  footColour = "band",
  className,
  overlayClassName = "grid place-items-center p-4",
  children,
  onOpenAutoFocus,
  ...rest
}: DialogContentProps) {
  const opener = useRef<Element | null>(null);
  // If this dialog unmounts while it is open, the dialog that opens in its place inherits the opener.
  useLayoutEffect(
    () => () => {
      if (!opener.current) return; // this dialog is not open
      closedOpener = opener.current;
      document.addEventListener("focusin", () => (closedOpener = null), { once: true });
    },
    [],
  );
  return (
    <Dialog.Portal>
      <Dialog.Overlay
        className={cn(
          "bg-scrim data-[state=open]:animate-fade-in data-[state=closed]:animate-fade-out fixed inset-0 z-50 overflow-y-auto overscroll-contain",
          overlayClassName,
        )}
      >
        <Dialog.Content
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            const focused = document.activeElement;
            opener.current = focused === document.body ? closedOpener : focused;
            onOpenAutoFocus?.(event);
          }}
          // Radix returns the focus only to its own trigger, which most of these dialogs do not have. The call is repeated
          // in the next frame, because the opener may be in a row that is being deleted.
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            const target = opener.current;
            opener.current = null;
            returnFocus(target);
            requestAnimationFrame(() => returnFocus(target));
          }}
          {...rest}
          className={cn(
            "bg-pop text-ink pop-shadow data-[state=open]:animate-dialog-in data-[state=closed]:animate-fade-out relative w-full rounded-sm border-b-10",
            footColour === "danger" ? "border-danger" : "border-band",
            className,
          )}
        >
          {label && <Dialog.Title className="sr-only">{label}</Dialog.Title>}
          {children}
        </Dialog.Content>
      </Dialog.Overlay>
    </Dialog.Portal>
  );
}

/**
 * For onOpenAutoFocus: focuses the dialog instead of its first control, so that screen readers begin with the title and the
 * text.
 */
export function focusDialog(event: Event): void {
  event.preventDefault();
  (event.currentTarget as HTMLElement).focus();
}

/** Focuses the opener, or the page if the opener no longer exists. Does nothing if another element has the focus. */
function returnFocus(opener: Element | null) {
  const focused = document.activeElement;
  if (focused !== null && focused !== document.body) return;
  const target = opener?.isConnected ? opener : document.getElementById("main");
  if (target instanceof HTMLElement) target.focus({ preventScroll: true });
}

/** The close button of a dialog, 48 px, in the top right corner; `className` overrides the position. */
export function DialogClose({ className = "top-2 right-2" }: { className?: string }) {
  const t = useT();
  return (
    <Dialog.Close asChild>
      <IconButton label={t("nav.close")} variant="ghost" className={cn("absolute z-10", className)}>
        <X aria-hidden="true" size={22} strokeWidth={1.75} />
      </IconButton>
    </Dialog.Close>
  );
}
