import { useEffect, useState, type ComponentType } from "react";
import { onToastNeeded } from "@/lib/toast";

/**
 * Loads and renders the toast area when the first toast is to be shown. Most visitors see no toast and do not download its code.
 */
export function Toaster() {
  const [Area, setArea] = useState<ComponentType | null>(null);
  useEffect(
    () =>
      onToastNeeded(() => {
        // React's `lazy` is not used, because the whole page would fail if the chunk could not be loaded. With this import the next
        // toast tries again.
        import("@/components/ui/toast-area").then(
          ({ ToastArea }) => setArea(() => ToastArea), // in a function, because setArea would call the component
          (error: unknown) => console.error("The toasts could not be loaded", error),
        );
      }),
    [],
  );
  return Area && <Area />;
}
