import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/** The number of messages that are older than `months`; it is fetched if `enabled` and `months` is not 0. */
export function useOldMessages(months: number, enabled: boolean) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: [...queryKeys.messages.count, "older", months],
    enabled: enabled && months > 0,
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const { count, error } = await backend
        .from("contact_submissions")
        .select("id", { count: "exact", head: true })
        .lte("created_at", monthsBefore(new Date(), months).toISOString())
        .abortSignal(signal);
      if (error) throw error;
      if (count === null) throw new Error("The answer carries no count");
      return count;
    },
  });
}

/**
 * The same day and time some months earlier, in UTC. A day that the month does not have becomes its last day, as on the
 * server (internal/functions/retention.go).
 */
export function monthsBefore(now: Date, months: number): Date {
  const then = new Date(now);
  then.setUTCDate(1);
  then.setUTCMonth(then.getUTCMonth() - months);
  const days = new Date(Date.UTC(then.getUTCFullYear(), then.getUTCMonth() + 1, 0)).getUTCDate();
  then.setUTCDate(Math.min(now.getUTCDate(), days));
  return then;
}
