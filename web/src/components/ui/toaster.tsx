import { useEffect, useState, type ComponentType } from "react";
import { onToastWanted } from "@/lib/toast";

/** Loads the toast area when a toast is near, so that visitors who see none download none. */
export function Toaster() {
  const [Area, setArea] = useState<ComponentType | null>(null);
  useEffect(
    () =>
      onToastWanted(() => {
        // Not a lazy part: the page must live on when this cannot be loaded. The next toast tries again.
        import("@/components/ui/toast-area").then(
          ({ ToastArea }) => setArea(() => ToastArea),
          (error: unknown) => console.error("The notifications could not be loaded", error),
        );
      }),
    [],
  );
  return Area && <Area />;
}
