import { useEffect, useRef } from "react";
import { NavigationType, useLocation, useNavigationType } from "react-router";
import { keepFocusVisible, scrollToSectionAfterNavigation } from "@/lib/scroll";

/** The first segment of a page's path, such as "gallery". The focus stays when the next page has the same first segment. */
const areaOf = (page: string) => page.split("/")[1];

/** Selects the metadata that the server has written into the head. It describes only the page that the server has sent. */
const PAGE_METADATA_SELECTOR =
  "head>:is([rel=canonical],[hreflang],[name=description],[property],[name^=twitter],[type$=json],[name=robots])";

/**
 * Focuses the page's main element. A page whose code is still loading replaces its main element later. The focus is then lost, so
 * this function focuses the new main element. It stops when the visitor presses a key or clicks. The returned function also stops it.
 */
function focusMain(): () => void {
  const focus = () => document.getElementById("main")?.focus({ preventScroll: true });
  const observer = new MutationObserver(() => {
    if (document.activeElement === document.body) focus();
  });
  const stop = () => observer.disconnect();
  for (const name of ["keydown", "pointerdown"]) addEventListener(name, stop, { once: true });
  observer.observe(document.body, { childList: true, subtree: true });
  focus();
  return stop;
}

/**
 * When the page changes, does what a full page load does: scrolls to the top and moves the focus into the new page. The focus
 * stays if the new page is in the same area, as after a click on a filter. After Back and forward the scroll position is not changed.
 * Renders nothing.
 */
export function RouteEffects() {
  const { pathname, search, hash } = useLocation();
  const navigationType = useNavigationType();
  // A series is a page of its own, at the path of the gallery. Its slug comes before the path, and "null" if there is no series.
  const page = new URLSearchParams(search).get("series") + pathname;
  // The page before the last change; null before the first effect.
  const previousPage = useRef<string | null>(null);

  useEffect(() => {
    const previous = previousPage.current;
    previousPage.current = page;
    if (previous === null) {
      // The browser looks for the anchor of a URL such as /#contact before scripts have rendered the sections. Their ids are never
      // percent-encoded in URLs.
      if (hash) scrollToSectionAfterNavigation(hash.slice(1));
      return;
    }
    if (previous === page) return;
    if (navigationType !== NavigationType.Pop) window.scrollTo({ top: 0, behavior: "instant" });
    if (areaOf(previous) !== areaOf(page)) return focusMain();
  }, [page, hash, navigationType]);

  // Removes the server's metadata (internal/pages/head.go) after a navigation. It describes the first page, and a visitor may share
  // the current page.
  const initialUrl = useRef(pathname + search);
  useEffect(() => {
    if (initialUrl.current !== pathname + search)
      for (const element of document.querySelectorAll(PAGE_METADATA_SELECTOR)) element.remove();
  }, [pathname, search]);

  useEffect(keepFocusVisible, []);

  return null;
}
