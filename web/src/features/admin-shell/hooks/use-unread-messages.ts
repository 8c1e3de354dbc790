import { useEffect, useRef } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { useArrivals } from "@/features/admin-shell/api/arrivals";
import { useMessageChanges } from "@/features/admin-shell/hooks/use-message-changes";
import { useT } from "@/lib/i18n";
import { messageKeys } from "@/lib/message-keys";
import { areaToast } from "@/lib/toast";

/**
 * The number of unread messages, and a toast for each arrival, which is also what screen readers say. Whether the
 * live channel or the next look has found it makes no difference.
 */
export function useUnreadMessages(): number {
  const t = useT();
  const cache = useQueryClient();
  const { data } = useArrivals(useMessageChanges());
  // The moment of the newest one that was seen; undefined before the first look, which announces nothing.
  const seen = useRef<string | undefined>(undefined);

  useEffect(() => {
    if (!data) return;
    const before = seen.current;
    const latest = data.newest?.created_at ?? "";
    if (before !== undefined && latest <= before) return;
    seen.current = latest;
    if (before === undefined || data.newest?.status !== "new") return;
    areaToast({ title: t("messages.arrived", { name: data.newest.name }) });
    // When it was the clock that found it, the lists do not know yet.
    void cache.invalidateQueries({
      queryKey: messageKeys.all,
      predicate: ({ queryKey }) => queryKey[1] !== messageKeys.arrivals[1],
    });
  }, [data, t, cache]);

  return data?.unread ?? 0;
}
