import { useIsMutating, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { bodyWithPictures } from "@/features/admin-messages/api/body-with-pictures";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";
import { messageKeys } from "@/lib/message-keys";
import { refetch } from "@/lib/refetch";
import type { CommissionStage, CommissionState } from "@/lib/types";

// This file fetches the commission of a message (a work that the visitor orders) and sends what the owner does with it.

/**
 * An offer (what the owner would do for which price) as the owner writes it. The page chooses `id`. When it repeats a request it
 * uses the same id, so that the server stores the offer only once. Days are YYYY-MM-DD, or "" for none.
 */
export type OfferDraft = {
  id: string;
  text: string;
  price: string;
  deposit: string;
  /** The day by which the work would be finished. */
  promised_on: string;
  /** The last day of the offer. */
  expires_on: string;
};

/** What the owner does with a commission. It is the body of a call of the server's function. */
type CommissionAction =
  /** Moves the commission to `stage`. The server refuses that if the commission is no longer in the stage `from`. */
  | { action: "stage"; stage: CommissionStage; from: CommissionStage }
  /** Sets the day by which the work will be finished. */
  | { action: "promise"; promised_on: string }
  /** Makes an offer, which the visitor gets like a reply. */
  | ({ action: "offer" } & OfferDraft)
  /** Withdraws the offer with this id. */
  | { action: "withdraw"; id: string }
  /** Adds a note on the progress of the work. The page chooses its id, for the same reason as the id of an offer. */
  | { action: "progress"; id: string; text: string; pictures?: File[] };

/** Calls the server's function for commissions, which returns the commission. If `body` has no action, nothing is changed. */
const callCommission = (backend: OwnerBackend, body: object, signal?: AbortSignal) =>
  callFunction<CommissionState>(backend, "commission", body, signal);

/** Fetches how far the commission of a message is, with its offers. */
export function useCommission(messageId: string) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.commission(messageId),
    staleTime: 0,
    queryFn: ({ signal }) => callCommission(backend, { message_id: messageId }, signal),
  });
}

/** The mutation key of the actions on the commission of a message. */
const actionKey = (messageId: string) => ["commission-action", messageId];

/** Whether an action on the commission of a message is being sent. */
export const useIsCommissionBusy = (messageId: string) =>
  useIsMutating({ mutationKey: actionKey(messageId) }) > 0;

/** Sends an action on the commission of a message, and refetches what it changes. */
export function useCommissionAction(messageId: string) {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationKey: actionKey(messageId),
    mutationFn: (action: CommissionAction) => {
      // Takes the pictures out of the action. `pictures: undefined` gives every action this field, for the type checker.
      const { pictures = [], ...request } = { pictures: undefined, ...action };
      return callCommission(
        backend,
        bodyWithPictures({ ...request, message_id: messageId }, pictures),
      );
    },
    onSettled: () => refetch(queryClient, messageKeys.all),
  });
}
