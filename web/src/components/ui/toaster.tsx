import { useEffect, useState, type ComponentType } from "react";
import { onToastNeeded } from "@/lib/toast";

/** Loads the toast area when the first toast is shown; most visitors see none and do not download its code. */
export function Toaster() {
  const [Area, setArea] = useState<ComponentType | null>(null);
  useEffect(
    () =>
      onToastNeeded(() => {
        // React's `lazy` is not used: if its chunk could not be loaded, the whole page would fail. Here the next toast tries
        // again.
        import("@/components/ui/toast-area").then(
          ({ ToastArea }) => setArea(() => ToastArea), // in a function, because setArea would call the component
          (error: unknown) => console.error("The toasts could not be loaded", error),
        );
      }),
    [],
  );
  return Area && <Area />;
}
