import { useState } from "react";
import { useBoot } from "@/lib/boot";
import type { GalleryFilter } from "@/lib/constants";
import type { Product } from "@/lib/types";
import { useArtwork } from "@/features/artworks/api/get-artwork";
import { useArtworkParam } from "@/features/artworks/hooks/use-artwork-param";
import { useHydrated } from "@/lib/use-hydrated";
import type { ArtworksPage } from "@/features/artworks/paging";

/**
 * The open work of the gallery, which ?art= names. A work that is not on the first page is fetched by its id.
 * `isPagePending` says whether the first page is still loading.
 */
export function useGalleryArtwork(
  filter: GalleryFilter,
  firstPage: ArtworksPage | undefined,
  isPagePending: boolean,
) {
  const { id, open, close } = useArtworkParam();
  const { noWork = false } = useBoot();
  const hydrated = useHydrated();
  const [opened, setOpened] = useState<Product | null>(null);
  const knownWork =
    firstPage?.works.find((one) => one.id === id) ?? (opened?.id === id ? opened : null);
  const mustFetch =
    firstPage !== undefined && knownWork === null && firstPage.total > firstPage.works.length;
  const {
    data: fetched,
    isLoading,
    isError,
  } = useArtwork(filter, hydrated && mustFetch ? id : null);
  const product = (hydrated && id && (knownWork ?? fetched)) || null;
  const isPending = id !== null && (!hydrated || isPagePending || isLoading);

  return {
    product,
    /** Whether the URL names a work that is not loaded yet. */
    isPending,
    /**
     * Whether the URL names a work that does not exist. Before hydration the boot data say so, because the server's router
     * sees no query string.
     */
    isMissing: hydrated
      ? id !== null && !isPending && product === null && firstPage !== undefined && !isError
      : noWork && (import.meta.env.SSR || id !== null),
    open(chosen: Product) {
      setOpened(chosen);
      open(chosen);
    },
    close,
  };
}
