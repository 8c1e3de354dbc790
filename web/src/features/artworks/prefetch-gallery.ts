import type { QueryClient } from "@tanstack/react-query";
import { matchPath } from "react-router";
import { artworksPageQuery } from "@/features/artworks/api/get-artworks-page";
import { seriesListQuery } from "@/features/artworks/api/get-series";
import { parseFilter } from "@/features/artworks/gallery-filter";
import type { PublicBackend } from "@/lib/backend";

/** The Save-Data setting of some browsers (https://wicg.github.io/savedata/). TypeScript's library lacks its type. */
type NetworkInformation = { connection?: { saveData?: boolean } };

/**
 * Listens on the document and fetches the first page of a filter when a link to the filter is hovered, touched or focused. A page
 * that is fresh in the cache is not fetched again. Nothing is prefetched for visitors whose browser saves data.
 */
export function prefetchGallery(queryClient: QueryClient, backend: PublicBackend): void {
  const prefetch = (element: EventTarget | null) => {
    const link = element instanceof Element && element.closest<HTMLAnchorElement>("a[href]");
    // A link with ?art= opens a work on the current page and needs no fetch. A link with ?series= leads to the works of a series.
    if (!link || link.origin !== location.origin || /[?&](art|series)=/.test(link.search)) return;
    const to = matchPath({ path: "/gallery/:type?", caseSensitive: true }, link.pathname);
    if (!to || (navigator as NetworkInformation).connection?.saveData) return;
    const filter = parseFilter(to.params.type, backend.boot.site.gallery.types);
    void queryClient.prefetchQuery(artworksPageQuery(backend, filter, 0));
    void queryClient.prefetchQuery(seriesListQuery(backend, filter));
  };
  for (const event of ["pointerover", "focusin", "touchstart"])
    document.addEventListener(event, ({ target }) => prefetch(target), { passive: true });
  // Links that were hovered or focused before this code loaded fire no event any more.
  for (const element of document.querySelectorAll("a:hover,a:focus")) prefetch(element);
}
