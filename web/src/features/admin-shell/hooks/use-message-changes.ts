import { useEffect, useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { LIVE_REJOIN_MS, LIVE_DEBOUNCE_MS } from "@/lib/constants";
import { messageKeys } from "@/lib/message-keys";

/**
 * Keeps the messages current: joins a live channel, by which the server reports changes, and invalidates the queries of
 * messages after each change and after each join. Returns whether the channel is joined.
 */
export function useMessageChanges(): boolean {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const [joined, setJoined] = useState(false);
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    let debounce: ReturnType<typeof setTimeout> | undefined;
    let rejoin: ReturnType<typeof setTimeout> | undefined;
    let unmounted = false;
    const refetch = () => {
      debounce ??= setTimeout(() => {
        debounce = undefined;
        void cache.invalidateQueries({ queryKey: messageKeys.all });
      }, LIVE_DEBOUNCE_MS);
    };
    // A new name for each attempt, because the client returns the closed channel for a known name.
    const channel = backend
      .channel(`messages-${attempt}-${Date.now()}`)
      .on(
        "postgres_changes",
        { event: "*", schema: "public", table: "contact_submissions" },
        refetch,
      )
      // Typed as string, because the client's enum would import the client into this chunk.
      .subscribe((status: string) => {
        if (unmounted) return;
        setJoined(status === "SUBSCRIBED");
        if (status === "SUBSCRIBED") refetch();
        // The client rejoins after errors and lost connections, but not after the server has closed the channel.
        if (status === "CLOSED")
          rejoin ??= setTimeout(() => setAttempt((n) => n + 1), LIVE_REJOIN_MS);
      });
    return () => {
      unmounted = true;
      clearTimeout(debounce);
      clearTimeout(rejoin);
      setJoined(false);
      void backend.removeChannel(channel);
    };
  }, [backend, cache, attempt]);

  return joined;
}
