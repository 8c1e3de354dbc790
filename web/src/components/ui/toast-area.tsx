import { useEffect, useRef, type FocusEvent, type RefObject } from "react";
import { Check, CircleAlert } from "lucide-react";
import { toast, Toaster as Sonner } from "sonner";
import {
  TOAST_ACTION_MS,
  TOAST_DURATION_MS,
  TOAST_GAP_PX,
  TOAST_VISIBLE,
  TOAST_WIDTH_PX,
} from "@/lib/constants";
import { useT } from "@/lib/i18n";
import { attachToastArea, type QueuedToast } from "@/lib/toast";

/** The id that all single toasts share. A single toast replaces the previous single toast. */
const SINGLE_ID = "single";
/** The height of the empty space at the end of admin pages. A toast in this space covers nothing. */
const TOAST_ROOM_PX = 128;

/** Shows a toast with the library sonner, and calls `onClose` when the toast starts to close. */
function show(
  { title, description, destructive, action, channel }: QueuedToast,
  onClose: () => void,
) {
  const Icon = destructive ? CircleAlert : Check;
  toast(title, {
    id: channel === "single" ? SINGLE_ID : undefined,
    description,
    action: action && {
      label: action.label,
      onClick: () => {
        onClose();
        action.onClick();
      },
    },
    onAutoClose: onClose,
    onDismiss: onClose,
    duration: action ? TOAST_ACTION_MS : undefined,
    icon: <Icon aria-hidden="true" size={20} strokeWidth={1.75} />,
    className: destructive ? "toast toast-destructive" : "toast",
  });
}

/**
 * Lifts the toasts above the sticky foot of the page, such as the bar of the selected works, so that they do not cover it. At the
 * end of the page there is room for toasts below the foot. They are not lifted there, because they would cover the content above
 * the foot.
 */
function useLift(area: RefObject<HTMLElement | null>) {
  useEffect(() => {
    const updateLift = () => {
      const foot = document.querySelector("[data-sticky-foot]")?.getBoundingClientRect();
      const mustLift = foot !== undefined && innerHeight - foot.bottom < TOAST_ROOM_PX;
      const lift = mustLift ? Math.max(0, innerHeight - foot.top) : 0;
      area.current?.style.setProperty("--toast-lift", `${lift}px`);
    };
    // The body changes its height when the foot appears or disappears.
    const observer = new ResizeObserver(updateLift);
    observer.observe(document.body);
    for (const name of ["scroll", "resize"]) addEventListener(name, updateLift, { passive: true });
    return () => {
      observer.disconnect();
      for (const name of ["scroll", "resize"]) removeEventListener(name, updateLift);
    };
  }, [area]);
}

/**
 * Tells sonner that the pointer has left the toasts when the toast under the pointer has disappeared. The browser sends a mouseover
 * event to the element below, but no mouseout event to the list of toasts. Without that event sonner would keep the other toasts
 * open for ever.
 */
function useLeftToasts(area: RefObject<HTMLElement | null>) {
  useEffect(() => {
    const onMouseOver = ({ target, relatedTarget }: MouseEvent) => {
      const list = area.current?.querySelector("[data-sonner-toaster]");
      const isInside = (end: EventTarget | null) => end instanceof Node && list?.contains(end);
      const hasDisappeared = relatedTarget instanceof Node && !relatedTarget.isConnected;
      if (isInside(target) || !(isInside(relatedTarget) || hasDisappeared)) return;
      // The event has no relatedTarget, so that React does not tell the element below a second time that the pointer is over it.
      list?.dispatchEvent(new MouseEvent("mouseout", { bubbles: true }));
    };
    document.addEventListener("mouseover", onMouseOver);
    return () => document.removeEventListener("mouseover", onMouseOver);
  }, [area]);
}

/**
 * Shows the toasts that lib/toast.ts queues. Sonner announces them to screen readers, so no live region is added here.
 *
 * When a toast that has the focus closes, this component moves the focus back to where it was before. Sonner would move
 * the focus back whenever the focus leaves a toast, even if the user has just clicked a field. So focus events do not reach sonner.
 */
export function ToastArea() {
  const t = useT();
  const area = useRef<HTMLDivElement>(null);
  const focusedBefore = useRef<HTMLElement | null>(null);
  const isOutside = (target: EventTarget | null): target is HTMLElement =>
    target instanceof HTMLElement && !area.current?.contains(target);

  useLift(area);
  useLeftToasts(area);

  // Shows the queued toasts, and moves the focus back when a toast that has the focus closes.
  useEffect(() => {
    const moveFocusBack = () => {
      if (area.current?.contains(document.activeElement))
        focusedBefore.current?.focus({ preventScroll: true });
    };
    return attachToastArea((queued) => show(queued, moveFocusBack));
  }, []);

  const onFocus = (event: FocusEvent) => {
    event.stopPropagation();
    if (isOutside(event.relatedTarget)) focusedBefore.current = event.relatedTarget;
  };
  return (
    <div ref={area} onFocusCapture={onFocus} onBlurCapture={(event) => event.stopPropagation()}>
      <Sonner
        position="bottom-left"
        offset={{ left: 24, bottom: "calc(24px + var(--toast-lift, 0px))" }}
        mobileOffset={{ left: 16, right: 16, bottom: "calc(16px + var(--toast-lift, 0px))" }}
        gap={TOAST_GAP_PX}
        visibleToasts={TOAST_VISIBLE}
        duration={TOAST_DURATION_MS}
        containerAriaLabel={t("toast.area")}
        style={{ "--width": `${TOAST_WIDTH_PX}px` } as React.CSSProperties}
        toastOptions={{
          unstyled: true,
          classNames: {
            icon: "toast-icon",
            title: "toast-title",
            description: "toast-text",
            actionButton: "toast-action",
          },
        }}
      />
    </div>
  );
}
