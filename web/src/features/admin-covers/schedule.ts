import { inputTime } from "@/lib/owner-dates";
import type { CoverImage } from "@/lib/types";

// The schedule of a cover (a large picture or video at the top of the home page) says from when and until when visitors see the cover.

/** The two times of a schedule as values of datetime-local inputs. "" is a time that is not set. */
type ScheduleValues = { visible_from: string; visible_until: string };

/** The columns with the beginning and the end of the schedule. */
export const TIME_COLUMNS = ["visible_from", "visible_until"] as const;

/** The phase of a cover: its schedule has not begun ("scheduled"), has ended, or has begun and not ended ("current"). */
type CoverPhase = "scheduled" | "ended" | "current";

/** Whether a time is now or in the past, by the browser's clock. */
const hasCome = (time: string) => !(new Date(time) > new Date());

/**
 * The phase of a stored cover. The server computes has_begun and has_ended with its own clock. Rows from a conflict or from the
 * history lack these two columns, so their times are compared with the browser's clock.
 */
export function phaseOf(cover: CoverImage): CoverPhase {
  const { visible_from, visible_until } = cover;
  // A cover without a beginning is visible at once. A cover without an end is visible for ever.
  const hasBegun = cover.has_begun ?? (visible_from ? hasCome(visible_from) : true);
  const hasEnded = cover.has_ended ?? (visible_until ? hasCome(visible_until) : false);
  if (hasEnded) return "ended";
  return hasBegun ? "current" : "scheduled";
}

/** Converts a stored time to the value of its input; "" if it is not set. */
const inputValue = (time: string | null | undefined) => (time ? inputTime(time) : "");

/** The form values of a cover's schedule. */
export const scheduleValues = (cover: CoverImage): ScheduleValues => ({
  visible_from: inputValue(cover.visible_from),
  visible_until: inputValue(cover.visible_until),
});

/** Whether the end is after the beginning, or one of them is not set. */
export const isScheduleValid = ({ visible_from, visible_until }: ScheduleValues): boolean =>
  !visible_from || !visible_until || new Date(visible_until) > new Date(visible_from);

/** The times to save: those that differ between the form and the row. */
export function scheduleChange(
  cover: CoverImage,
  values: ScheduleValues,
): Partial<Pick<CoverImage, (typeof TIME_COLUMNS)[number]>> {
  const before = scheduleValues(cover);
  return Object.fromEntries(
    TIME_COLUMNS.filter((name) => values[name] !== before[name]).map((name) => [
      name,
      values[name] ? new Date(values[name]).toISOString() : null,
    ]),
  );
}

/**
 * A stored time as the text that the owner compares between two versions, such as "2026-11-12 09:41". The text is the same in all
 * languages.
 */
export const timeForComparison = (time: string | null | undefined) =>
  inputValue(time).replace("T", " ");
