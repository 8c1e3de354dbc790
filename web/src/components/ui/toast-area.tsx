import { useEffect } from "react";
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

const HELPER_ID = "helper";

/** Shows a toast with sonner. */
function show({ title, description, destructive, action, channel }: QueuedToast) {
  const Icon = destructive ? CircleAlert : Check;
  toast(title, {
    // With the fixed id a helper toast replaces the previous helper toast.
    id: channel === "helper" ? HELPER_ID : undefined,
    description,
    action,
    duration: action ? TOAST_ACTION_MS : undefined,
    icon: <Icon aria-hidden="true" size={20} strokeWidth={1.75} />,
    className: destructive ? "toast toast-destructive" : "toast",
  });
}

/**
 * Shows the toasts that lib/toast.ts queues. Sonner announces them to screen readers, so no live region is added here.
 */
export function ToastArea() {
  const t = useT();
  useEffect(() => attachToastArea(show), []);
  return (
    <Sonner
      position="bottom-left"
      offset={24}
      mobileOffset={16}
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
  );
}
