import { expect, it } from "vitest";
import { changesOf, keepTyped } from "@/features/admin-settings/changes";

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

it("keeps what was typed during a save, and takes everything else from the saved values", () => {
  const sent = { name: " Ana ", texts: { en: { title: "Walls" }, pt: { title: "" } }, list: ["x"] };
  const saved = { ...sent, name: "Ana" };
  expect(keepTyped(saved, sent, structuredClone(sent))).toEqual(saved);
  const typed = { name: "", texts: { en: { title: "Walls" }, pt: { title: "Paredes" } }, list: [] };
  expect(keepTyped(saved, sent, typed)).toEqual(typed);
  expect(keepTyped(saved, sent, { ...typed, name: " Ana " })).toEqual({ ...typed, name: "Ana" });
});
