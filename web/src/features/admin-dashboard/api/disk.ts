import { useQuery } from "@tanstack/react-query";
import { queryKeys } from "@/lib/query-keys";

type Disk = "low" | "full" | "enough";

/** The free space of the server's disk, from its readiness endpoint. */
export function useDisk() {
  return useQuery({
    queryKey: queryKeys.disk,
    staleTime: 60_000,
    retry: false,
    queryFn: async ({ signal }): Promise<Disk> => {
      const response = await fetch("/health/ready", { signal, cache: "no-store" });
      const { disk } = (await response.json()) as { disk?: unknown };
      return disk === "low" || disk === "full" ? disk : "enough";
    },
  });
}
