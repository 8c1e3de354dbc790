import { useCallback, useLayoutEffect, useRef, useState } from "react";
import { useQuery, type QueryKey, type UseQueryOptions } from "@tanstack/react-query";
import { useBoot } from "@/lib/boot";
import type { Product } from "@/lib/types";
import { useHydrated } from "@/lib/use-hydrated";
import { useArtworkParam } from "@/features/artworks/hooks/use-artwork-param";
import type { ArtworksPage } from "@/features/artworks/paging";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The open work, whose id is in ?art= of the URL, and functions to open and close a work. `firstPage` has the first of the works
 * that the page shows, and `isPagePending` says whether they are still loading. `query` returns the query of a work by its id. That
 * query runs only if the id is valid and the work is not in `firstPage`. `isPart` says that the page shows a series, which has
 * only a part of the works that `query` finds.
 */
export function useOpenArtwork<Key extends QueryKey>(
  firstPage: ArtworksPage | undefined,
  isPagePending: boolean,
  query: (id: string) => UseQueryOptions<Product | null, Error, Product | null, Key>,
  isPart?: boolean,
) {
  const { id, open, close } = useArtworkParam();
  const { noWork = false } = useBoot();
  const hydrated = useHydrated();
  // The work that the visitor has opened by its card; null until then. A card has all data of its work.
  const [opened, setOpened] = useState<Product | null>(null);
  const knownWork =
    firstPage?.rows.find((row) => row.id === id) ?? (opened?.id === id ? opened : null);
  const mustFetch =
    !!firstPage && !knownWork && (isPart || firstPage.total > firstPage.rows.length);
  const {
    data: fetched,
    isLoading,
    isError,
  } = useQuery({
    ...query(id ?? ""),
    enabled: hydrated && mustFetch && id !== null && uuid.test(id),
  });
  const product = (hydrated && id && (knownWork ?? fetched)) || null;
  const isPending = id !== null && (!hydrated || isPagePending || isLoading);
  // `open` below is a stable function, so that memoized cards do not render again.
  const latestOpen = useRef(open);
  useLayoutEffect(() => {
    latestOpen.current = open;
  });

  return {
    product,
    /** Whether the URL names a work that is not loaded yet. */
    isPending,
    /**
     * Whether the URL names a work that does not exist. Before hydration `noWork` of the boot data (JSON in the page) says so,
     * because the server's router sees no query string.
     */
    isMissing: hydrated
      ? id !== null && !isPending && product === null && firstPage !== undefined && !isError
      : noWork && (import.meta.env.SSR || id !== null),
    open: useCallback((chosen: Product) => {
      setOpened(chosen);
      latestOpen.current(chosen);
    }, []),
    close,
  };
}
