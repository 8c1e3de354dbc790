import type { QueryClient } from "@tanstack/react-query";
import { matchPath } from "react-router";
import { galleryPartQuery } from "@/features/artworks/api/get-gallery-part";
import { parseFilter } from "@/features/artworks/gallery-filter";
import type { PublicBackend } from "@/lib/backend";

/** Not in every browser, and not in TypeScript's library: https://wicg.github.io/savedata/ */
type Line = { connection?: { saveData?: boolean } };

/**
 * Asks for the beginning of a wall as soon as pointer, finger or keyboard are on a link to it, with the query of the page
 * itself: a click then finds it in the cache. While that is fresh, nothing is asked for again. One listener for all
 * links, there and to come; for as long as the page lives.
 */
export function fetchNearWalls(cache: QueryClient, backend: PublicBackend): void {
  const look = (element: EventTarget | null) => {
    const link = element instanceof Element && element.closest<HTMLAnchorElement>("a[href]");
    // A card's link shows a work; its wall is read only when it stands behind the work already.
    if (!link || link.origin !== location.origin || /[?&]art=/.test(link.search)) return;
    const to = matchPath({ path: "/gallery/:type?", caseSensitive: true }, link.pathname);
    if (!to || (navigator as Line).connection?.saveData) return;
    void cache.prefetchQuery(galleryPartQuery(backend, parseFilter(to.params.type), 0));
  };
  for (const event of ["pointerover", "focusin", "touchstart"])
    document.addEventListener(event, ({ target }) => look(target), { passive: true });
  // What the visitor was on before this came.
  for (const element of document.querySelectorAll("a:hover,a:focus")) look(element);
}
