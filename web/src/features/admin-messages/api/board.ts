import {
  keepPreviousData,
  useMutation,
  useQuery,
  useQueryClient,
  type QueryClient,
} from "@tanstack/react-query";
import { moveCard } from "@/features/admin-messages/board";
import { useOwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";
import { messageKeys } from "@/lib/message-keys";
import type { BoardCard, BoardColumn, CommissionStage, CommissionState } from "@/lib/types";

/** Fetches the commissions by stage. Of the stages in `all` more cards are fetched. */
export function useBoard(all: readonly CommissionStage[]) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: messageKeys.boardWith(all),
    staleTime: 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const body = { all };
      const { columns } = await callFunction<{ columns: BoardColumn[] }>(
        backend,
        "commission-board",
        body,
        signal,
      );
      return columns;
    },
  });
}

type Move = { card: BoardCard; from: CommissionStage; to: CommissionStage };

function moveCached(cache: QueryClient, card: BoardCard, to: CommissionStage) {
  cache.setQueriesData<BoardColumn[]>(
    { queryKey: messageKeys.board },
    (columns) => columns && moveCard(columns, card, to),
  );
}

/** Moves a card to another stage. The board shows it there immediately, and puts it back if the server refuses the move. */
export function useMoveCard() {
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  return useMutation({
    // One after the other, so that a card that is moved twice goes through both stages.
    scope: { id: "board" },
    mutationFn: ({ card, from, to }: Move) =>
      callFunction<CommissionState>(backend, "commission", {
        action: "stage",
        message_id: card.message_id,
        stage: to,
        from,
      }),
    onMutate: async ({ card, to }) => {
      await cache.cancelQueries({ queryKey: messageKeys.board });
      moveCached(cache, card, to);
    },
    onError: (_error, { card, from }) => moveCached(cache, card, from),
    onSettled: () => cache.invalidateQueries({ queryKey: messageKeys.all }),
  });
}

/** Whether the server refused a move because the commission is in another stage by now. */
export function isStageConflict(error: Error): boolean {
  const response: unknown = (error.cause as { context?: unknown } | null)?.context;
  return response instanceof Response && response.status === 409;
}
