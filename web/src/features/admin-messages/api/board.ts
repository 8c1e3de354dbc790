import {
  keepPreviousData,
  useMutation,
  useMutationState,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useMemo } from "react";
import { moveCard } from "@/features/admin-messages/board";
import { useOwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";
import { messageKeys } from "@/lib/message-keys";
import { refetch } from "@/lib/refetch";
import type { BoardCard, BoardColumn, CommissionStage, CommissionState } from "@/lib/types";

// This file fetches the board (the page with the commissions as cards, in a column for each stage) and saves moves of cards.

/** A move of a card from one stage to another. */
type Move = { card: BoardCard; from: CommissionStage; to: CommissionStage };

/** The mutation key of moves, by which useBoard finds the moves that are being saved. */
const MOVE_KEY = ["move-card"];

/**
 * Fetches the columns of the board. The server limits the number of cards in a column. For the stages in `expanded` the limit is
 * higher. While a move is being saved, the result has the card in its new stage, even if the server still returns the old stage.
 */
export function useBoard(expanded: readonly CommissionStage[]) {
  const backend = useOwnerBackend();
  const query = useQuery({
    queryKey: messageKeys.boardWith(expanded),
    staleTime: 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const body = { all: expanded };
      const { columns } = await callFunction<{ columns: BoardColumn[] }>(
        backend,
        "commission-board",
        body,
        signal,
      );
      return columns;
    },
  });
  const moves = useMutationState({
    filters: { mutationKey: MOVE_KEY, status: "pending" },
    select: ({ state }) => state.variables as Move,
  });
  const data = useMemo(
    () =>
      query.data &&
      moves.reduce((columns, { card, to }) => moveCard(columns, card, to), query.data),
    [query.data, moves],
  );
  return { ...query, data };
}

/** Moves a card to another stage. If the server refuses the move, the board shows the card in its old stage again. */
export function useMoveCard() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationKey: MOVE_KEY,
    // Moves run one after the other, so that a card that is moved twice goes through both stages.
    scope: { id: "board" },
    mutationFn: ({ card, from, to }: Move) =>
      callFunction<CommissionState>(backend, "commission", {
        action: "stage",
        message_id: card.message_id,
        stage: to,
        from,
      }),
    onSuccess: (_state, { card, to }) => {
      // Changes the cached columns, because the card would be in its old stage again if the refetch fails.
      queryClient.setQueriesData<BoardColumn[]>(
        { queryKey: messageKeys.board },
        (columns) => columns && moveCard(columns, card, to),
      );
      // Returned, so that the move stays pending until the refetch ends. Until then useBoard applies it to older responses.
      return refetch(queryClient, messageKeys.all);
    },
    onError: () => void refetch(queryClient, messageKeys.all),
  });
}

/** Whether the server refused a move because the commission is in another stage by now. */
export function isStageConflict(error: Error): boolean {
  const response: unknown = (error.cause as { context?: unknown } | null)?.context;
  return response instanceof Response && response.status === 409;
}
