import { useIsMutating, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { bodyWithPictures } from "@/features/admin-messages/api/body-with-pictures";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";
import { messageKeys } from "@/lib/message-keys";
import { refetch } from "@/lib/refetch";
import type { CommissionStage, CommissionState } from "@/lib/types";

/**
 * An offer as the owner writes it. The page chooses `id` and uses it again when it repeats a request, because the server stores
 * an offer with the same id and texts only once. Days are YYYY-MM-DD, or "" for none.
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

/** What the owner does with a commission, as the server's function takes it. */
type CommissionAction =
  /** Moves the commission to `stage`. The server refuses that if the commission is no longer in the stage `from`. */
  | { action: "stage"; stage: CommissionStage; from: CommissionStage }
  /** Sets the day by which the work will be finished. */
  | { action: "promise"; promised_on: string }
  | ({ action: "offer" } & OfferDraft)
  /** Withdraws the offer with this id. */
  | { action: "withdraw"; id: string }
  /** Adds a note on the progress of the work. The page chooses its id, as that of an offer. */
  | { action: "progress"; id: string; text: string; pictures?: File[] };

/** Calls the server's function for commissions. Without an action, it only returns the commission. */
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

/**
 * Moves a commission to another stage, sets the promised date, makes or withdraws an offer, or adds a note on the progress.
 */
export function useCommissionAction(messageId: string) {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    mutationKey: actionKey(messageId),
    mutationFn: (action: CommissionAction) => {
      // Only a note on the progress has pictures. `pictures: undefined` is for the type checker.
      const { pictures = [], ...request } = { pictures: undefined, ...action };
      return callCommission(
        backend,
        bodyWithPictures({ ...request, message_id: messageId }, pictures),
      );
    },
    onSettled: () => refetch(cache, messageKeys.all),
  });
}
