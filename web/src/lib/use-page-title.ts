import { useEffect } from "react";
import { useBoot } from "@/lib/boot";

/**
 * Sets the document title to "title · name of the site", or to the name if there is no title. The server does the same for the first
 * page (internal/pages/head.go). Null leaves the document title unchanged, for pages whose content is not known yet.
 */
export function usePageTitle(title?: string | null): void {
  const { name } = useBoot().site;
  useEffect(() => {
    if (title !== null) document.title = oneLine(title ? `${title} · ${name}` : name);
  }, [title, name]);
}

/**
 * Removes bidirectional control characters and replaces other control characters by blanks, as internal/pages/text.go
 * does. The server also collapses blanks, which browsers do when they show a title.
 */
const oneLine = (text: string) =>
  text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "").replace(/[\p{Cc}\u2028\u2029]/gu, " ");
