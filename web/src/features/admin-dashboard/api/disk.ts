import { useQuery } from "@tanstack/react-query";
import { queryKeys } from "@/lib/query-keys";

type DiskSpace =
  /** The disk has less free space than the limit for a warning. */
  | "low"
  /** Nothing new can be stored. */
  | "full"
  /** No warning is needed. */
  | "enough";

/** Fetches from the readiness endpoint whether the server's disk has enough free space, for a notice on the overview. */
export function useDiskSpace() {
  return useQuery({
    queryKey: queryKeys.disk,
    staleTime: 60_000,
    retry: false, // without a result there is only no notice
    queryFn: async ({ signal }): Promise<DiskSpace> => {
      const response = await fetch("/health/ready", { signal, cache: "no-store" });
      // response.ok is not checked, because the status is 503 if the disk is full.
      const { disk } = (await response.json()) as { disk?: unknown };
      // The endpoint leaves out the value if there is enough space. Other values than "low" and "full" need no notice either.
      return disk === "low" || disk === "full" ? disk : "enough";
    },
  });
}
