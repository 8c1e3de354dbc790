import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import type { CoverImage } from "@/lib/types";

export function getCovers(backend: PublicBackend, signal?: AbortSignal): Promise<CoverImage[]> {
  return backend.read(
    "cover_images",
    { select: "*,media", is_active: "eq.true", order: "display_order.asc" },
    signal,
  );
}

export function coversQuery(backend: PublicBackend) {
  return queryOptions({
    queryKey: queryKeys.covers.active,
    queryFn: ({ signal }) => getCovers(backend, signal),
  });
}

export function useCovers() {
  return useQuery(coversQuery(usePublicBackend()));
}
