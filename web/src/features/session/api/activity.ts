import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import type { ActivityEntry, ActivityKind } from "@/lib/types";

/** Entries of the activity, the newest first. `next` is the position after them, "" if no entries follow. */
export type ActivityPage = { entries: ActivityEntry[]; next: string };

/** Reads the next entries after the position `after`, or the newest for "". A `kind` of "" means all kinds. */
export async function getActivity(
  backend: OwnerBackend,
  kind: ActivityKind | "",
  after: string,
  signal?: AbortSignal,
): Promise<ActivityPage> {
  const call = backend.rpc("get_activity", { ...(kind && { kind }), ...(after && { after }) });
  const { data, error } = await (signal ? call.abortSignal(signal) : call);
  if (error) throw error;
  return data;
}

/**
 * The first page of entries. It is fetched once each time that it is shown and not refreshed, so that the pages that the
 * owner has loaded after it still follow it.
 */
export function useActivity(kind: ActivityKind | "") {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: ["activity", kind],
    staleTime: Infinity,
    gcTime: 0,
    queryFn: ({ signal }) => getActivity(backend, kind, "", signal),
  });
}
