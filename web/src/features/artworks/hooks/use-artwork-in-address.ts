import { useState } from "react";
import { useLocation, useNavigate } from "react-router";
import type { GalleryFilter } from "@/lib/constants";
import type { Product } from "@/lib/types";
import { useGalleryWork } from "@/features/artworks/api/get-gallery-work";
import { useMounted } from "@/features/artworks/hooks/use-mounted";
import type { GalleryPart } from "@/features/artworks/paging";

const PARAM = "art";
type Place = { opened?: boolean };

/**
 * Which work is open, named by ?art= in the address. A work that is not among the first ones is fetched
 * alone; an id that is not on the wall is ignored.
 */
export function useArtworkInAddress(
  filter: GalleryFilter,
  first: GalleryPart | undefined,
  isWaiting: boolean,
) {
  const location = useLocation();
  const navigate = useNavigate();
  const mounted = useMounted();
  const [opened, setOpened] = useState<Product | null>(null);
  const id = new URLSearchParams(location.search).get(PARAM);
  const near = first?.works.find((one) => one.id === id) ?? (opened?.id === id ? opened : null);
  const further = first !== undefined && near === null && first.total > first.works.length;
  const { data: fetched, isLoading } = useGalleryWork(filter, mounted && further ? id : null);

  function withArt(art: string | null) {
    const params = new URLSearchParams(location.search);
    if (art === null) params.delete(PARAM);
    else params.set(PARAM, art);
    return { pathname: location.pathname, search: params.toString(), hash: location.hash };
  }
  return {
    product: (mounted && id && (near ?? fetched)) || null,
    /** The address names a work, and it is not known yet whether it hangs here. */
    isPending: id !== null && (!mounted || isWaiting || isLoading),
    open(chosen: Product) {
      setOpened(chosen);
      void navigate(withArt(chosen.id), { state: { opened: true } satisfies Place });
    },
    close() {
      // Opened here: go back to the wall. Reached by a link: there is no wall to go back to yet.
      if ((location.state as Place | null)?.opened) void navigate(-1);
      else void navigate(withArt(null), { replace: true });
    },
  };
}
