import { useState } from "react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "react-router";
import {
  seriesKeys,
  seriesListQuery,
  seriesQuery,
  type SeriesEntry,
} from "@/features/artworks/api/get-series";
import { usePublicBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import type { GalleryFilter } from "@/lib/gallery-settings";
import { useHydrated } from "@/lib/use-hydrated";

/** A valid slug (the name of a series in URLs). */
const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Fetches the series (works that the owner shows together) of a filter, and the series whose slug is in ?series= of the URL. */
export function useGallerySeries(filter: GalleryFilter) {
  const backend = usePublicBackend();
  const boot = useBoot();
  const hydrated = useHydrated();
  const { search } = useLocation();
  // The server's router sees no query string, so there the slug is in the boot data (JSON that the server puts into the page).
  const slug = import.meta.env.SSR
    ? (boot.series ?? null)
    : new URLSearchParams(search).get("series") || null;
  // The slug of the URL if the server has found no series with this slug; else null. The first render in the browser needs it, because
  // that render must equal the server's.
  const [unknownSlug] = useState(() => (!hydrated && boot.noSeries ? slug : null));
  const isKnown = slug !== null && slug !== unknownSlug && slugPattern.test(slug);
  const queryClient = useQueryClient();
  const list = useQuery({
    ...seriesListQuery(backend, filter),
    // Until the series of a filter have loaded, they are selected from the series of all works, if these are cached. So the works below
    // the row do not move.
    placeholderData: () =>
      queryClient
        .getQueryData<SeriesEntry[]>(seriesKeys.list("all"))
        ?.filter(({ types }) => filter === "all" || types.includes(filter)),
  });
  const one = useQuery({ ...seriesQuery(backend, slug ?? ""), enabled: isKnown });
  const isMissing = import.meta.env.SSR
    ? !!boot.noSeries
    : slug !== null && (!isKnown || one.data === null);
  const entry = list.data?.find((series) => series.slug === slug);
  // Until the series itself has loaded, its entry in the list is used, which has no texts.
  const current =
    isMissing || slug === null
      ? null
      : (one.data ?? (entry && { ...entry, text: null, text_pt: null }) ?? null);

  return {
    /** The series in the row above the gallery. */
    list: list.data ?? [],
    /** The series whose works the page shows; its texts follow when they have loaded. */
    current,
    /** Whether the URL names a series that does not exist. */
    isMissing,
    /** Whether the row of series, or the series that the URL names, is not loaded yet. */
    isPending: list.isPending || (slug !== null && !isMissing && current === null && !one.isError),
    /** Whether the works to show are known: those of the filter, or of the loaded series. */
    isReady: slug === null || isMissing || current !== null,
    isError: isKnown && one.isError && current === null,
    refetch: one.refetch,
  };
}
