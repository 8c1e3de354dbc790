import { useEffect } from "react";
import { useBoot } from "@/lib/boot";

/** Keeps the tab's title right on client-side navigation; the server writes the first one alike. */
export function usePageTitle(title?: string): void {
  const { site } = useBoot();
  const full = title ? `${title} · ${site.name}` : site.name;
  useEffect(() => {
    document.title = full;
  }, [full]);
}
