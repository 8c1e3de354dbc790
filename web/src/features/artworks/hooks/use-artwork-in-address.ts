import { useLocation, useNavigate } from "react-router";
import type { Product } from "@/lib/types";
import { useMounted } from "@/features/artworks/hooks/use-mounted";

const PARAM = "art";
type Place = { opened?: boolean };

/** Which work is open, named by ?art= in the address; an id that is not on the wall is ignored. */
export function useArtworkInAddress(products: Product[] | undefined) {
  const location = useLocation();
  const navigate = useNavigate();
  const mounted = useMounted();
  const id = new URLSearchParams(location.search).get(PARAM);
  const product = (mounted && id && products?.find((one) => one.id === id)) || null;

  function withArt(art: string | null) {
    const params = new URLSearchParams(location.search);
    if (art === null) params.delete(PARAM);
    else params.set(PARAM, art);
    return { pathname: location.pathname, search: params.toString(), hash: location.hash };
  }
  return {
    product,
    open: (chosen: Product) =>
      void navigate(withArt(chosen.id), { state: { opened: true } satisfies Place }),
    close() {
      // Opened here: go back to the wall. Reached by a link: there is no wall to go back to yet.
      if ((location.state as Place | null)?.opened) void navigate(-1);
      else void navigate(withArt(null), { replace: true });
    },
  };
}
