import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import type { GalleryFilter } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";
import { galleryQueryParams } from "@/features/artworks/api/get-artworks-page";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The query of one work of the gallery by its id. Its data are null if the filter contains no such work. */
export function artworkQuery(backend: PublicBackend, filter: GalleryFilter, id: string) {
  return queryOptions({
    queryKey: queryKeys.products.galleryArtwork(filter, id),
    queryFn: async ({ signal }) => {
      const query: [string, string][] = [...galleryQueryParams(filter), ["id", `eq.${id}`]];
      const [work] = await backend.read("products", query, signal);
      return work ?? null;
    },
  });
}

/** The work with this id. No request is made for null or an invalid id. */
export function useArtwork(filter: GalleryFilter, id: string | null) {
  return useQuery({
    ...artworkQuery(usePublicBackend(), filter, id ?? ""),
    enabled: id !== null && uuid.test(id),
  });
}
