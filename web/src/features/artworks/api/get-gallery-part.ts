import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { GALLERY_HIDDEN_TYPES, QUERY_STALE_MS, type GalleryFilter } from "@/lib/constants";
import { queryKeys } from "@/lib/query-keys";
import { beginningOf, WORKS_PER_PAGE, type GalleryPart } from "@/features/artworks/paging";

/** Specification §7: all columns, oil and acrylic left out, newest first, perhaps one type. */
export function galleryFilterQuery(filter: GalleryFilter): [string, string][] {
  const query: [string, string][] = [
    ["select", "*,media"],
    ["artwork_type", `not.in.(${GALLERY_HIDDEN_TYPES.join(",")})`],
    ["order", "created_at.desc"],
  ];
  if (filter !== "all") query.push(["artwork_type", `eq.${filter}`]);
  return query;
}

export async function getGalleryPart(
  backend: PublicBackend,
  filter: GalleryFilter,
  page: number,
  signal?: AbortSignal,
): Promise<GalleryPart> {
  const { rows, total } = await backend.readPart(
    "products",
    galleryFilterQuery(filter),
    { from: page * WORKS_PER_PAGE, count: WORKS_PER_PAGE },
    signal,
  );
  return { works: rows, total };
}

export function galleryPartQuery(backend: PublicBackend, filter: GalleryFilter, page: number) {
  return queryOptions({
    queryKey: queryKeys.products.galleryPart(filter, page),
    queryFn: ({ signal }) => getGalleryPart(backend, filter, page, signal),
    // Blocks come and go while one scrolls; that alone is no reason to ask again.
    staleTime: QUERY_STALE_MS,
  });
}

export function useGalleryPart(filter: GalleryFilter, page: number) {
  const cache = useQueryClient();
  return useQuery({
    ...galleryPartQuery(usePublicBackend(), filter, page),
    // What is already known of a filter is shown at once: no empty wall in between.
    placeholderData: () => {
      const all = cache.getQueryData<GalleryPart>(queryKeys.products.galleryPart("all", 0));
      return page === 0 && all ? beginningOf(filter, all) : undefined;
    },
  });
}
