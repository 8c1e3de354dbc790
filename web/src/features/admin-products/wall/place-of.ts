import type { MoveArgs } from "@/lib/types";

/**
 * The arguments of a move that puts the rows `moved` to their places in `order`, where they follow
 * each other.
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

/**
 * The arguments of a move that puts one row back to its place in `before`. The rows before it in
 * `before` must be at their places already.
 */
export function placeBack(before: readonly string[], id: string): MoveArgs {
  const target = before[before.indexOf(id) - 1];
  return target === undefined
    ? { ids: [id], place: "first", target: null }
    : { ids: [id], place: "after", target };
}
