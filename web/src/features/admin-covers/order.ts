import { COVER_ORDER_MIN } from "@/lib/constants";
import { moveItem } from "@/lib/move-item";
import type { CoverImage } from "@/lib/types";

/** A cover's id and its number in the order, from COVER_ORDER_MIN. */
export type NumberedCover = Pick<CoverImage, "id" | "display_order">;

/** Whether the covers have the numbers 1 to n in this order, without gaps. */
export function isNumbered(covers: readonly NumberedCover[]): boolean {
  return covers.every(({ display_order }, n) => display_order === n + COVER_ORDER_MIN);
}

/** The ids in the order after a cover has moved to `number`; a number beyond the last one moves it to the end. */
export function movedTo(covers: readonly NumberedCover[], id: string, number: number): string[] {
  const ids = covers.map((cover) => cover.id);
  const place = Math.min(number - COVER_ORDER_MIN, ids.length - 1);
  return moveItem(ids, ids.indexOf(id), place);
}

/**
 * The ids with a new cover inserted before the first cover that the owner chose after it, or at the end. `chosen` maps the
 * covers added on this page to the order in which they were chosen.
 */
export function withChosen(
  covers: readonly NumberedCover[],
  id: string,
  chosen: ReadonlyMap<string, number>,
): string[] {
  const ids = covers.map((cover) => cover.id).filter((other) => other !== id);
  const mine = chosen.get(id)!;
  const next = ids.findIndex((other) => (chosen.get(other) ?? -1) > mine);
  return next < 0 ? [...ids, id] : ids.toSpliced(next, 0, id);
}
