import { expect, it } from "vitest";
import { monthsBefore } from "@/features/admin-settings/api/count-old-messages";

it.each([
  ["2026-11-22T10:30:00.000Z", "2026-05-22T10:30:00.000Z"],
  ["2026-08-31T23:59:59.000Z", "2026-02-28T23:59:59.000Z"],
  ["2024-08-30T00:00:00.000Z", "2024-02-29T00:00:00.000Z"],
  ["2026-03-15T00:00:00.000Z", "2025-09-15T00:00:00.000Z"],
])("six months before %s", (now, then) => {
  expect(monthsBefore(new Date(now), 6).toISOString()).toBe(then);
});
