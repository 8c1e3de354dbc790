import { undoneOrder, type OrderChange } from "@/lib/editing/use-undo";
import { movesBack, orderAfter } from "@/lib/place-of";
import type { MoveArgs } from "@/lib/types";

/** Undoes a move. Rejects with ConflictError, and changes nothing, if rows were moved since. */
export type UndoMove = () => Promise<void>;

/** A list of rows that the owner orders by hand. */
type OrderedList = {
  /** Returns the ids of all rows in the order that the page has loaded (loadedIds); undefined if it has not loaded all of them. */
  loadedOrder(): readonly string[] | undefined;
  /** Reads the ids of all rows in their order, also of rows that the page does not show. */
  readOrder(): Promise<string[]>;
  /** Stores a move. */
  save(args: MoveArgs): Promise<void>;
  /** Called after each move and each undo, even if it has failed. */
  refetch(): Promise<unknown>;
};

/** Returns a function that makes a move in a list and resolves with a function that undoes it. */
export function undoableMoves({ loadedOrder, readOrder, save, refetch }: OrderedList) {
  // The order after the last change. Undefined once the rows are loaded again, because the loaded order is then up to date.
  let latestOrder: readonly string[] | undefined;
  // Settles when the last change has ended. The next change waits for this, so that it starts from the resulting order.
  let lastChange: Promise<unknown> = Promise.resolve();

  /** Makes a change after all earlier changes, and then refetches. */
  async function run<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = lastChange.then(change);
    const end = result.catch(() => undefined);
    lastChange = end;
    try {
      return await result;
    } finally {
      await refetch();
      if (lastChange === end) latestOrder = undefined;
    }
  }

  async function makeMove(args: MoveArgs): Promise<OrderChange> {
    // A move must not wait for a request if the order is known: if the page is closed meanwhile, the move is lost.
    const before = latestOrder ?? loadedOrder() ?? (await readOrder());
    await save(args);
    const after = orderAfter(before, args);
    latestOrder = after;
    return { before, after };
  }

  async function moveBack(ids: readonly string[], change: OrderChange): Promise<void> {
    const current = await readOrder();
    const earlier = undoneOrder(current, change);
    // Rows that were added at the beginning since the move stay there.
    const firstKnown = current.findIndex((id) => earlier.includes(id));
    const added = current.slice(0, Math.max(0, firstKnown));
    let order = current;
    for (const move of movesBack([...added, ...earlier], ids)) {
      await save(move);
      order = orderAfter(order, move);
      latestOrder = order;
    }
  }

  return async (args: MoveArgs): Promise<UndoMove> => {
    const change = await run(() => makeMove(args));
    return () => run(() => moveBack(args.ids, change));
  };
}
