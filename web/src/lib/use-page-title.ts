import { useEffect } from "react";
import { useBoot } from "@/lib/boot";

/**
 * Keeps the tab's title right on client-side navigation; the server writes the first one alike (internal/pages/head.go).
 * With null what is there stays: it is not known yet what the page shows.
 */
export function usePageTitle(title?: string | null): void {
  const { name } = useBoot().site;
  useEffect(() => {
    if (title !== null) document.title = oneLine(title ? `${title} · ${name}` : name);
  }, [title, name]);
}

/** As internal/pages/text.go: marks that turn the direction would turn the site's name too. Spaces are the browser's. */
const oneLine = (text: string) =>
  text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "").replace(/[\p{Cc}\u2028\u2029]/gu, " ");
