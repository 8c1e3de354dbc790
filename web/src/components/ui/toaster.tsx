import { useEffect, useState, type ComponentType } from "react";
import { onToastNeeded } from "@/lib/toast";

/** Loads the toast area when the first toast is shown; most visitors see none and do not download its code. */
export function Toaster() {
  const [Area, setArea] = useState<ComponentType | null>(null);
  useEffect(
    () =>
      onToastNeeded(() => {
        // A lazy component whose code cannot be loaded would fail the whole page. The next toast loads it again.
        import("@/components/ui/toast-area").then(
          ({ ToastArea }) => setArea(() => ToastArea),
          (error: unknown) => console.error("The notifications could not be loaded", error),
        );
      }),
    [],
  );
  return Area && <Area />;
}
