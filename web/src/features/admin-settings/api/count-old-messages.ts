import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/**
 * Counts the messages (rows of contact_submissions) that are older than `months` and have no later reply, so that the settings page can
 * say how many a shorter retention would delete at most. The server also keeps those with a commission that is accepted or in progress,
 * and those with a later note on the progress of one (listMessageIDsBefore in internal/functions/store_messages.go).
 */
export async function countOldMessages(
  backend: OwnerBackend,
  months: number,
  signal?: AbortSignal,
): Promise<number> {
  const cutoff = monthsBefore(new Date(), months).toISOString();
  const query = backend
    .from("contact_submissions")
    .select("id", { count: "exact", head: true })
    .lte("created_at", cutoff)
    .or(`last_at.is.null,last_at.lte.${cutoff}`);
  const { count, error } = await (signal ? query.abortSignal(signal) : query);
  if (error) throw error;
  if (count === null) throw new Error("The response has no count");
  return count;
}

/** The result of countOldMessages. Fetches nothing if `months` is 0 (no limit) or `enabled` is false. */
export function useOldMessageCount(months: number, enabled: boolean) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: [...queryKeys.messages.count, "older", months],
    enabled: enabled && months > 0,
    staleTime: 0,
    queryFn: ({ signal }) => countOldMessages(backend, months, signal),
  });
}

/**
 * Returns the time `months` before `now`, in UTC. It has the same day of the month, or the last day of a month that is too short:
 * one month before 31 March is 28 February. The server uses the same rule (internal/functions/retention.go).
 */
export function monthsBefore(now: Date, months: number): Date {
  const earlier = new Date(now);
  // On day 1 the change of the month cannot lead to a day that the earlier month lacks.
  earlier.setUTCDate(1);
  earlier.setUTCMonth(earlier.getUTCMonth() - months);
  // Day 0 of the next month is the last day of this month.
  const days = new Date(
    Date.UTC(earlier.getUTCFullYear(), earlier.getUTCMonth() + 1, 0),
  ).getUTCDate();
  earlier.setUTCDate(Math.min(now.getUTCDate(), days));
  return earlier;
}
