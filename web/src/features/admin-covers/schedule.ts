import { inputTime } from "@/lib/owner-dates";
import type { CoverImage } from "@/lib/types";

/**
 * The times between which visitors see a cover (a large picture or video at the top of the home page), in the format of
 * datetime-local inputs; "" is no limit.
 */
type ScheduleValues = { visible_from: string; visible_until: string };

/** The columns of the beginning and the end. */
export const TIMES = ["visible_from", "visible_until"] as const;

/** The phase of a cover: before, after or within the time in which visitors see it. */
type CoverPhase = "scheduled" | "ended" | "current";

/**
 * The phase of a stored cover. Rows that a conflict or the history returns lack has_begun and has_ended; for them the times
 * are compared with the browser's clock.
 */
export function phaseOf(cover: CoverImage): CoverPhase {
  // Whether the time has come; `ifNull` for a time that is not set.
  const hasCome = (time: string | null | undefined, ifNull: boolean) =>
    time ? !(new Date(time) > new Date()) : ifNull;
  if (cover.has_ended ?? hasCome(cover.visible_until, false)) return "ended";
  return (cover.has_begun ?? hasCome(cover.visible_from, true)) ? "current" : "scheduled";
}

/** Converts a stored time to the value of its input; "" if it is not set. */
const valueOf = (time: string | null | undefined) => (time ? inputTime(time) : "");

/** The form values of a cover's times. */
export const scheduleValues = (cover: CoverImage): ScheduleValues => ({
  visible_from: valueOf(cover.visible_from),
  visible_until: valueOf(cover.visible_until),
});

/** Whether the end is after the beginning. True if one of them is not set. */
export const isOrdered = ({ visible_from, visible_until }: ScheduleValues): boolean =>
  !visible_from || !visible_until || new Date(visible_until) > new Date(visible_from);

/** The times to save: those that differ between the form and the row. */
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

/** The text of a stored time in comparisons of two versions; it is the same in all languages. */
export const comparedTime = (time: string | null | undefined) => valueOf(time).replace("T", " ");
