import { COVER_ORDER_MIN } from "@/lib/constants";
import { moveItem } from "@/lib/move-item";
import type { CoverImage } from "@/lib/types";

/**
 * The id of a cover (a large picture or video at the top of the home page) and its number in the order, from COVER_ORDER_MIN.
 */
export type NumberedCover = Pick<CoverImage, "id" | "display_order">;

/** Whether the covers have the numbers 1 to n in this order, without gaps. */
export function isNumbered(covers: readonly NumberedCover[]): boolean {
  return covers.every(({ display_order }, n) => display_order === n + COVER_ORDER_MIN);
}

/** The ids in the order after the cover with `id` has moved to `number`, or to the end if there are fewer covers. */
export function idsAfterMove(
  covers: readonly NumberedCover[],
  id: string,
  number: number,
): string[] {
  const ids = covers.map((cover) => cover.id);
  const index = Math.min(number - COVER_ORDER_MIN, ids.length - 1);
  return moveItem(ids, ids.indexOf(id), index);
}

/**
 * The ids with the new cover `id` inserted. The owner may choose several files, and their uploads end in any order. The new
 * cover comes before the first cover whose file was chosen later. If there is no such cover, the new cover comes last.
 * `chosenIndexes` maps the id of each cover that was added on this page to the position of its file among the chosen files.
 */
export function idsWithNewCover(
  covers: readonly NumberedCover[],
  id: string,
  chosenIndexes: ReadonlyMap<string, number>,
): string[] {
  const ids = covers.map((cover) => cover.id).filter((other) => other !== id);
  const newIndex = chosenIndexes.get(id)!;
  const laterIndex = ids.findIndex((other) => (chosenIndexes.get(other) ?? -1) > newIndex);
  return laterIndex < 0 ? [...ids, id] : ids.toSpliced(laterIndex, 0, id);
}
