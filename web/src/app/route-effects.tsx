import { useEffect, useRef } from "react";
import { NavigationType, useLocation, useNavigationType } from "react-router";
import { keepFocusClear, scrollToSectionSoon } from "@/lib/scroll";

const area = (pathname: string) => pathname.split("/")[1];

/** Canonical address and languages, description, cards, data for machines, and that nobody shall find the page. */
const OF_ONE_ADDRESS =
  "head>:is([rel=canonical],[hreflang],[name=description],[property],[name^=twitter],[type$=json],[name=robots])";

/**
 * What a full page load would do on a change of path: start at the top, and let the keyboard and screen
 * readers begin in the new page. Filters and tabs keep their focus, and going back keeps its place.
 */
export function RouteEffects() {
  const { pathname, search, hash } = useLocation();
  const type = useNavigationType();
  const before = useRef<string | null>(null);

  useEffect(() => {
    const last = before.current;
    before.current = pathname;
    if (last === null) {
      // Addresses such as /#contact: the sections are drawn by script, after the browser looked.
      if (hash) scrollToSectionSoon(decodeURIComponent(hash.slice(1)));
      return;
    }
    if (last === pathname) return;
    if (type !== NavigationType.Pop) window.scrollTo({ top: 0, behavior: "instant" });
    if (area(last) !== area(pathname)) {
      document.getElementById("main")?.focus({ preventScroll: true });
    }
  }, [pathname, hash, type]);

  // Browsers share what the head says (internal/pages/head.go): it speaks of the address that was loaded, and of no other.
  const loaded = useRef(pathname + search);
  useEffect(() => {
    if (loaded.current !== pathname + search)
      for (const of of document.querySelectorAll(OF_ONE_ADDRESS)) of.remove();
  }, [pathname, search]);

  useEffect(keepFocusClear, []);

  return null;
}
