import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import type { GalleryFilter } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";
import type { Product } from "@/lib/types";
import { galleryFilterQuery } from "@/features/artworks/api/get-gallery-part";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** One work of this wall, or null when no such work hangs there. */
export async function getGalleryWork(
  backend: PublicBackend,
  filter: GalleryFilter,
  id: string,
  signal?: AbortSignal,
): Promise<Product | null> {
  const rows = await backend.read(
    "products",
    [...galleryFilterQuery(filter), ["id", `eq.${id}`]],
    signal,
  );
  return rows[0] ?? null;
}

export function galleryWorkQuery(backend: PublicBackend, filter: GalleryFilter, id: string) {
  return queryOptions({
    queryKey: queryKeys.products.galleryWork(filter, id),
    queryFn: ({ signal }) => getGalleryWork(backend, filter, id, signal),
  });
}

/** Asks nothing for an id that no work can have. */
export function useGalleryWork(filter: GalleryFilter, id: string | null) {
  const wanted = id !== null && uuid.test(id);
  return useQuery({
    ...galleryWorkQuery(usePublicBackend(), filter, id ?? ""),
    enabled: wanted,
  });
}
