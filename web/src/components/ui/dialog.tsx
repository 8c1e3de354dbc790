import { useRef, type ComponentProps, type ReactNode } from "react";
import { X } from "lucide-react";
import * as Dialog from "radix-ui/dialog";
import { useT } from "@/lib/i18n";
import { cn } from "@/lib/cn";
import { IconButton } from "@/components/ui/icon-button";

export const DialogRoot = Dialog.Root;
export const DialogTrigger = Dialog.Trigger;
export const DialogTitle = Dialog.Title;
export const DialogDescription = Dialog.Description;

type DialogContentProps = ComponentProps<typeof Dialog.Content> & {
  /** Names the dialog when it shows no DialogTitle of its own. */
  label?: string;
  /** Colour of the band at the base. */
  base?: "barra" | "telha";
  /** Classes of the scrolling layer behind; it centres the dialog and leaves a 16 px margin. */
  layerClassName?: string;
  children: ReactNode;
};

/** Size and inner padding come from className; the box itself brings surface, shadow and the 10 px base. */
export function DialogContent({
  label,
  base = "barra",
  className,
  layerClassName = "grid place-items-center p-4",
  children,
  onOpenAutoFocus,
  ...rest
}: DialogContentProps) {
  const opener = useRef<Element | null>(null);
  return (
    <Dialog.Portal>
      <Dialog.Overlay
        className={cn(
          "bg-scrim data-[state=open]:animate-fade-in data-[state=closed]:animate-fade-out fixed inset-0 z-50 overflow-y-auto overscroll-contain",
          layerClassName,
        )}
      >
        <Dialog.Content
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            opener.current = document.activeElement;
            onOpenAutoFocus?.(event);
          }}
          // Radix returns the focus to its own trigger only; most of our dialogs have none. Once more in
          // the next frame, because the opener may be in the row that was just deleted.
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            returnFocus(opener.current);
            requestAnimationFrame(() => returnFocus(opener.current));
          }}
          {...rest}
          className={cn(
            "bg-pop text-ink shadow-pop data-[state=open]:animate-dialog-in data-[state=closed]:animate-fade-out relative w-full rounded-sm border-b-10",
            base === "telha" ? "border-telha" : "border-barra",
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

/** A focus that has moved on stays where it is; one that has nowhere to return to starts at the page. */
function returnFocus(opener: Element | null) {
  const at = document.activeElement;
  if (at !== null && at !== document.body) return;
  const target = opener?.isConnected ? opener : document.getElementById("main");
  if (target instanceof HTMLElement) target.focus({ preventScroll: true });
}

/** The 48 px cross in the top right corner; a className brings its own place. */
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
