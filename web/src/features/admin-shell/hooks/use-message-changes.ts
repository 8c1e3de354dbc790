import { useEffect, useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { LIVE_REJOIN_MS, LIVE_SETTLE_MS } from "@/lib/constants";
import { messageKeys } from "@/lib/message-keys";

/**
 * Follows the messages through the client's live channel: whatever changes, every query about messages looks
 * again. True while the channel is joined; what was missed before is looked for at each join.
 */
export function useMessageChanges(): boolean {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const [live, setLive] = useState(false);
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    let settling: ReturnType<typeof setTimeout> | undefined;
    let rejoining: ReturnType<typeof setTimeout> | undefined;
    let left = false;
    const look = () => {
      settling ??= setTimeout(() => {
        settling = undefined;
        void cache.invalidateQueries({ queryKey: messageKeys.all });
      }, LIVE_SETTLE_MS);
    };
    // A name of its own for each attempt: the client gives the old channel for an old name.
    const channel = backend
      .channel(`messages-${attempt}-${Date.now()}`)
      .on("postgres_changes", { event: "*", schema: "public", table: "contact_submissions" }, look)
      // A plain text: the client's enum would tie its chunk to this one.
      .subscribe((status: string) => {
        if (left) return;
        setLive(status === "SUBSCRIBED");
        if (status === "SUBSCRIBED") look();
        // The client joins again by itself after an error or a lost connection, but not where the server has ended it.
        if (status === "CLOSED")
          rejoining ??= setTimeout(() => setAttempt((n) => n + 1), LIVE_REJOIN_MS);
      });
    return () => {
      left = true;
      clearTimeout(settling);
      clearTimeout(rejoining);
      setLive(false);
      void backend.removeChannel(channel);
    };
  }, [backend, cache, attempt]);

  return live;
}
