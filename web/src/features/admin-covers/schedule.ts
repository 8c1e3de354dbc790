import { inputTime } from "@/lib/owner-dates";
import type { CoverImage } from "@/lib/types";

/** The times between which visitors see a cover, as datetime-local inputs have them; "" sets no limit. */
type ScheduleValues = { visible_from: string; visible_until: string };

/** The columns of the times. */
export const TIMES = ["visible_from", "visible_until"] as const;

/** What the clock says of a cover: it is still to come, it is over, or neither. */
type CoverPhase = "scheduled" | "ended" | "current";

/** The phase of a stored cover. Rows that a conflict or the history returns lack has_begun and has_ended. */
export function phaseOf(cover: CoverImage): CoverPhase {
  const hasCome = (time: string | null | undefined, ifNull: boolean) =>
    time ? !(new Date(time) > new Date()) : ifNull;
  if (cover.has_ended ?? hasCome(cover.visible_until, false)) return "ended";
  return (cover.has_begun ?? hasCome(cover.visible_from, true)) ? "current" : "scheduled";
}

/** A stored time as the form has it. */
const valueOf = (time: string | null | undefined) => (time ? inputTime(time) : "");

/** The form values of a cover's times. */
export const scheduleValues = (cover: CoverImage): ScheduleValues => ({
  visible_from: valueOf(cover.visible_from),
  visible_until: valueOf(cover.visible_until),
});

/** Whether the end is after the beginning, as far as both are set. */
export const isOrdered = ({ visible_from, visible_until }: ScheduleValues): boolean =>
  !visible_from || !visible_until || new Date(visible_until) > new Date(visible_from);

/** The times in which the form differs from the row, to save. */
export function scheduleChange(
  cover: CoverImage,
  values: ScheduleValues,
): Partial<Pick<CoverImage, (typeof TIMES)[number]>> {
  const before = scheduleValues(cover);
  return Object.fromEntries(
    TIMES.filter((name) => values[name] !== before[name]).map((name) => [
      name,
      values[name] ? new Date(values[name]).toISOString() : null,
    ]),
  );
}

/** A stored time beside another version of it: the same in all languages. */
export const comparedTime = (time: string | null | undefined) => valueOf(time).replace("T", " ");
