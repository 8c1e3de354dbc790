import type { MoveArgs } from "@/lib/types";

// Makes the arguments of the server's functions that order rows by hand, such as move_work. The page knows the wanted order of the
// whole list. The server gets the moved rows and where to put them: { ids: ["c"], place: "after", target: "a" } puts c after a.

/**
 * Returns the arguments of the move that puts the rows `moved` at their places in `order`, the wanted order of all ids. The moved rows
 * must follow each other in `order`.
 */
export function placeOf(order: readonly string[], moved: readonly string[]): MoveArgs {
  const at = order.indexOf(moved[0]!);
  const before = order[at - 1];
  const after = order[at + moved.length];
  const ids = [...moved];
  if (before !== undefined) return { ids, place: "after", target: before };
  if (after !== undefined) return { ids, place: "before", target: after };
  return { ids, place: "first", target: null };
}

/** Returns the order of all ids after a move. */
export function orderAfter(order: readonly string[], { ids, place, target }: MoveArgs): string[] {
  const moved = new Set(ids);
  const others = order.filter((id) => !moved.has(id));
  const indexes = {
    first: 0,
    last: others.length,
    before: others.indexOf(target ?? ""),
    after: others.indexOf(target ?? "") + 1,
  };
  return others.toSpliced(indexes[place], 0, ...ids);
}

/**
 * Returns the arguments of the moves that put the rows `moved` back to their places in `before`, an earlier order of all ids. The moves
 * must be made in the order of the result. Rows that followed each other in `before` are moved together.
 */
export function movesBack(before: readonly string[], moved: readonly string[]): MoveArgs[] {
  const movedIds = new Set(moved);
  const moves: MoveArgs[] = [];
  before.forEach((id, index) => {
    if (!movedIds.has(id)) return;
    const previous = before[index - 1];
    if (previous === undefined) moves.push({ ids: [id], place: "first", target: null });
    else if (movedIds.has(previous)) moves.at(-1)!.ids.push(id);
    else moves.push({ ids: [id], place: "after", target: previous });
  });
  return moves;
}
