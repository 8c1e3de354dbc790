import { useEffect, useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { LIVE_REJOIN_MS, LIVE_REFETCH_DELAY_MS } from "@/lib/constants";
import { messageKeys } from "@/lib/message-keys";
import { refetch } from "@/lib/refetch";

/** The server's reason for refusing to join a channel with the token of an ended session. */
const SESSION_ENDED = "Access was revoked";

/**
 * Keeps the messages on all admin pages current. Joins a live channel (a connection on which the server reports changes of tables),
 * and refetches the queries of messages soon after each change. Returns whether the channel is joined. Messages are the rows of
 * contact_submissions. The other three tables have the replies, commissions and reviews that belong to messages.
 */
export function useMessageChanges(): boolean {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  const [isJoined, setIsJoined] = useState(false);
  // Incremented to join again after the server has closed the channel.
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    let refetchTimer: ReturnType<typeof setTimeout> | undefined;
    let rejoinTimer: ReturnType<typeof setTimeout> | undefined;
    let isUnmounted = false;
    const refetchSoon = () => {
      refetchTimer ??= setTimeout(() => {
        refetchTimer = undefined;
        void refetch(queryClient, messageKeys.all);
      }, LIVE_REFETCH_DELAY_MS);
    };
    // Each channel has a new name. For a known name the client returns the old channel, even if it is closed. `attempt` begins at 0
    // each time the component mounts, so the time is part of the name too.
    const channel = backend
      .channel(`messages-${attempt}-${Date.now()}`)
      .on(
        "postgres_changes",
        { event: "*", schema: "public", table: "contact_submissions" },
        refetchSoon,
      )
      .on(
        "postgres_changes",
        { event: "*", schema: "public", table: "contact_replies" },
        refetchSoon,
      )
      .on("postgres_changes", { event: "*", schema: "public", table: "commissions" }, refetchSoon)
      .on(
        "postgres_changes",
        { event: "*", schema: "public", table: "commission_reviews" },
        refetchSoon,
      )
      // Typed as string, because the client's enum would import the client into this chunk.
      .subscribe((status: string, error?: Error) => {
        if (isUnmounted) return;
        setIsJoined(status === "SUBSCRIBED");
        // Changes before the join were not reported.
        if (status === "SUBSCRIBED") refetchSoon();
        const hasClosed = status === "CLOSED" && !rejoinTimer;
        // The client rejoins after errors and lost connections, but not after the server has closed the channel.
        if (hasClosed) rejoinTimer = setTimeout(() => setAttempt((n) => n + 1), LIVE_REJOIN_MS);
        // The session may have ended, now or while there was no connection. Then the server rejects this request, and the client signs
        // out. Without the request the page would stay open and show the rows that visitors may read, because for these rows the server
        // still accepts the token.
        if (hasClosed || error?.message === SESSION_ENDED) void backend.auth.getUser();
      });
    return () => {
      isUnmounted = true;
      clearTimeout(refetchTimer);
      clearTimeout(rejoinTimer);
      setIsJoined(false);
      void backend.removeChannel(channel);
    };
  }, [backend, queryClient, attempt]);

  return isJoined;
}
