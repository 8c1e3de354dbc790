import type { Product } from "@/lib/types";
import { useArtworkParam } from "@/features/artworks/hooks/use-artwork-param";
import { useHydrated } from "@/lib/use-hydrated";

/**
 * The open work of the home page, which must be a featured work: the server redirects URLs of other works to the gallery.
 */
export function useFeaturedArtwork(products: Product[] | undefined) {
  const { id, open, close } = useArtworkParam();
  const hydrated = useHydrated();
  const product = (hydrated && id && products?.find((one) => one.id === id)) || null;
  return { product, isPending: id !== null && !hydrated, open, close };
}
