import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";
import { messageKeys } from "@/lib/message-keys";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";
import type { ClientReview } from "@/lib/types";

// Reviews that clients write about finished commissions (works that they have ordered): the queries and actions of the owner. A
// commission belongs to the message that has asked for it, so the id of that message also names the commission and its review.

/**
 * What the owner decides about a review. `written_at` is when the client wrote the version that the owner has read. The server
 * rejects the decision if there is a newer version, unless `written_at` is null. `name`, `place` and `text` are published as the
 * owner has edited them. `active` says whether visitors see the review.
 */
export type ReviewDecision =
  | { action: "decline"; written_at: string | null }
  | {
      action: "approve";
      written_at: string | null;
      name: string;
      place: string;
      text: string;
      active: boolean;
    };

/** A decision about a review, or an action on the request for one: `ask` sends the request to the client, `withdraw` withdraws it. */
type ClientReviewAction = { action: "ask" | "withdraw" } | ReviewDecision;

/** Calls the server's function for the reviews of clients. A call without an action only returns the review. */
const callReview = (backend: OwnerBackend, body: object, signal?: AbortSignal) =>
  callFunction<ClientReview>(backend, "commission-review", body, signal);

/** Fetches the review that was requested from a client about a finished commission. */
export function useClientReview(messageId: string) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.review(messageId),
    staleTime: 0,
    queryFn: ({ signal }) => callReview(backend, { message_id: messageId }, signal),
  });
}

/** Fetches the ids of the messages whose client's review waits for approval, the oldest review first. */
export function useWaitingReviews() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.waitingReviews,
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const { data, error } = await backend
        .from("commission_reviews")
        .select("message_id")
        .eq("state", "waiting")
        .order("written_at", { ascending: true })
        .abortSignal(signal);
      if (error) throw error;
      return data.map(({ message_id }) => message_id);
    },
  });
}

/** Returns a mutation that requests a review, takes the request back, or approves or declines what the client has written. */
export function useClientReviewAction(messageId: string) {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (action: ClientReviewAction) =>
      callReview(backend, { ...action, message_id: messageId }),
    onSettled: () =>
      Promise.all([
        refetch(queryClient, messageKeys.all),
        refetch(queryClient, queryKeys.reviews.all),
      ]),
  });
}
