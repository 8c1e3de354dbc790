import { queryOptions, useQuery } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";
import type { CoverImage } from "@/lib/types";

export async function getCovers(
  backend: PublicBackend,
  signal?: AbortSignal,
): Promise<CoverImage[]> {
  let query = backend
    .from("cover_images")
    .select("*")
    .eq("is_active", true)
    .order("display_order", { ascending: true });
  if (signal) query = query.abortSignal(signal);
  const { data } = await query.throwOnError();
  return data;
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
