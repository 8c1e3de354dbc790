import { queryOptions } from "@tanstack/react-query";
import type { PublicBackend } from "@/lib/backend";
import type { GalleryFilter } from "@/lib/gallery-settings";
import { queryKeys } from "@/lib/query-keys";
import { galleryQueryParams } from "@/features/artworks/api/get-artworks-page";

/** The query of one work by its id. The data are null if the filter (all works, or one type) shows no work with this id. */
export function artworkQuery(backend: PublicBackend, filter: GalleryFilter, id: string) {
  return queryOptions({
    queryKey: queryKeys.products.galleryArtwork(filter, id),
    queryFn: async ({ signal }) => {
      const query: [string, string][] = [
        ...galleryQueryParams(backend, filter),
        ["id", `eq.${id}`],
      ];
      const [work] = await backend.read("products", query, signal);
      return work ?? null;
    },
  });
}
