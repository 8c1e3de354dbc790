import { expect, it } from "vitest";
import { changesOf } from "@/features/admin-settings/changes";

it("contains only changed values, as nested objects", () => {
  const base = { a: "1", b: { c: "2", d: "3" }, list: ["x"], on: false };
  expect(changesOf(base, base)).toEqual({});
  expect(changesOf(base, { a: "1", b: { c: "2", d: "4" }, list: ["x"], on: false })).toEqual({
    b: { d: "4" },
  });
  expect(changesOf(base, { ...base, list: [], on: true })).toEqual({ list: [], on: true });
});

it("treats an empty text as a missing one, and clears a stored text", () => {
  expect(changesOf({}, { email: "", privacy: { use: "" } })).toEqual({});
  expect(changesOf({ email: "a@b.pt" }, { email: "" })).toEqual({ email: "" });
  expect(changesOf({}, { messageMonths: 0, enquiryLinks: false })).toEqual({});
  expect(changesOf({ messageMonths: 6 }, { messageMonths: 0 })).toEqual({ messageMonths: 0 });
  expect(changesOf({}, { privacy: { use: "Para responder." } })).toEqual({
    privacy: { use: "Para responder." },
  });
});
