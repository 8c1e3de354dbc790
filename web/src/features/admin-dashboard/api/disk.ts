import { useQuery } from "@tanstack/react-query";
import { queryKeys } from "@/lib/query-keys";

/**
 * "low": the disk has less free space than the limit for a warning. "full": nothing new can be stored. "enough": no warning is
 * needed.
 */
type DiskSpace = "low" | "full" | "enough";

/** Fetches from the readiness endpoint whether the server's disk has enough free space. */
export function useDiskSpace() {
  return useQuery({
    queryKey: queryKeys.disk,
    staleTime: 60_000,
    retry: false,
    queryFn: async ({ signal }): Promise<DiskSpace> => {
      const response = await fetch("/health/ready", { signal, cache: "no-store" });
      const { disk } = (await response.json()) as { disk?: unknown };
      return disk === "low" || disk === "full" ? disk : "enough";
    },
  });
}
