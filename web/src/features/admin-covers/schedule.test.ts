import { describe, expect, it } from "vitest";
import {
  isScheduleValid,
  phaseOf,
  scheduleChange,
  scheduleValues,
} from "@/features/admin-covers/schedule";
import type { CoverImage } from "@/lib/types";

const past = "2026-01-02T03:04:05.678Z";
const future = "2999-06-01T08:30:20.5Z";
/** A cover without has_begun and has_ended is like a row of the history or of a conflict. */
const cover = (more: Partial<CoverImage>) => ({ id: "c", ...more }) as CoverImage;

it.each([
  [{}, "current"],
  [{ visible_from: null, visible_until: null }, "current"],
  [{ visible_from: past, visible_until: future }, "current"],
  [{ visible_from: future }, "scheduled"],
  [{ visible_until: past }, "ended"],
  [{ visible_from: past, visible_until: past }, "ended"],
  // The server decides, whatever the clock of the owner's device shows.
  [{ visible_from: future, has_begun: true, has_ended: false }, "current"],
  [{ visible_from: past, has_begun: false, has_ended: false }, "scheduled"],
  [{ visible_until: past, has_begun: true, has_ended: false }, "current"],
  [{ visible_until: future, has_begun: true, has_ended: true }, "ended"],
] as const)("phaseOf(%j) is %s", (row, phase) => {
  expect(phaseOf(cover(row))).toBe(phase);
});

describe("scheduleChange", () => {
  it("is empty while the form shows the stored times without their seconds", () => {
    const row = cover({ visible_from: past, visible_until: future });
    expect(scheduleChange(row, scheduleValues(row))).toEqual({});
    expect(scheduleChange(cover({}), { visible_from: "", visible_until: "" })).toEqual({});
  });

  it("has the times that differ, in the browser's time zone", () => {
    const row = cover({ visible_from: past, visible_until: null });
    const until = "2999-06-01T10:00";
    expect(scheduleChange(row, { ...scheduleValues(row), visible_until: until })).toEqual({
      visible_until: new Date(until).toISOString(),
    });
    expect(scheduleChange(row, { visible_from: "", visible_until: "" })).toEqual({
      visible_from: null,
    });
  });
});

it.each([
  ["", "", true],
  ["2026-01-01T10:00", "", true],
  ["", "2026-01-01T10:00", true],
  ["2026-01-01T10:00", "2026-01-01T10:01", true],
  ["2026-01-01T10:00", "2026-01-01T10:00", false],
  ["2026-01-01T10:00", "2025-12-31T10:00", false],
])("from %o until %o is in order: %o", (visible_from, visible_until, ordered) => {
  expect(isScheduleValid({ visible_from, visible_until })).toBe(ordered);
});
