import { useLocation, useNavigate } from "react-router";
import type { Product } from "@/lib/types";
import { useMounted } from "@/features/artworks/hooks/use-mounted";

type Place = { artwork?: string };

/** Which work is open, kept in the history entry: the address stays, and Back closes the dialog. */
export function useArtworkInHistory(products: Product[] | undefined) {
  const location = useLocation();
  const navigate = useNavigate();
  const mounted = useMounted();
  const id = (location.state as Place | null)?.artwork;
  const product = (mounted && id && products?.find((one) => one.id === id)) || null;
  const here = { pathname: location.pathname, search: location.search, hash: location.hash };
  return {
    product,
    open: (chosen: Product) =>
      void navigate(here, { state: { artwork: chosen.id } satisfies Place }),
    close: () => void navigate(-1),
  };
}
