import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import type { ActivityEntry, ActivityKind } from "@/lib/types";

/** Entries, the newest first, and the position after them; "" if no entries follow. */
export type ActivityPage = { entries: ActivityEntry[]; next: string };

/** Reads the entries of a kind, or of all kinds for "", that follow a position. */
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

/** The newest entries. They are fetched once each time that they are shown, so that the pages after them still fit. */
export function useActivity(kind: ActivityKind | "") {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: ["activity", kind],
    staleTime: Infinity,
    gcTime: 0,
    queryFn: ({ signal }) => getActivity(backend, kind, "", signal),
  });
}
