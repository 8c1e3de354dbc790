import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import type { ActivityEntry, ActivityKind } from "@/lib/types";

/**
 * A page of entries of the activity log (who did what, and when), the newest first. `next` is the cursor of the next page; it is ""
 * for the last page.
 */
export type ActivityPage = { entries: ActivityEntry[]; next: string };

/** Reads a page of entries: the page at a cursor, or the newest page for "". A `kind` of "" means all kinds. */
export async function getActivity(
  backend: OwnerBackend,
  kind: ActivityKind | "",
  cursor: string,
  signal?: AbortSignal,
): Promise<ActivityPage> {
  const request = backend.rpc("get_activity", {
    ...(kind && { kind }),
    ...(cursor && { after: cursor }),
  });
  const { data, error } = await (signal ? request.abortSignal(signal) : request);
  if (error) throw error;
  return data;
}

/**
 * Fetches the first page of entries. The page is not refetched while it is shown, because new entries would shift the pages that the
 * owner has already loaded below it.
 */
export function useActivity(kind: ActivityKind | "") {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: ["activity", kind],
    staleTime: Infinity,
    gcTime: 0, // the next visit fetches the entries again
    queryFn: ({ signal }) => getActivity(backend, kind, "", signal),
  });
}
