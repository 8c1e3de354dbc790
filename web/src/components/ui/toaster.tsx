import { Suspense, useEffect, useState } from "react";
import { part } from "@/lib/part";
import { onToastWaiting } from "@/lib/toast";

const ToastArea = part(() => import("@/components/ui/toast-area").then((m) => m.ToastArea));

/** Loads the toast area with the first toast, so that visitors who see none download none. */
export function Toaster() {
  const [wanted, setWanted] = useState(false);
  useEffect(() => onToastWaiting(() => setWanted(true)), []);
  return wanted ? (
    <Suspense>
      <ToastArea />
    </Suspense>
  ) : null;
}
