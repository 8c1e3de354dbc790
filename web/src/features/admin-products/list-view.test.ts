import { expect, it } from "vitest";
import {
  isFiltered,
  oneLanguageCondition,
  readView,
  searchCondition,
  writeView,
} from "@/features/admin-products/list-view";

const view = (text: string) => readView(new URLSearchParams(text));

it("starts with all works, the newest first", () => {
  expect(view("")).toEqual({ q: "", type: "", flag: "", sort: "newest", layout: "table", page: 1 });
  expect(isFiltered(view(""))).toBe(false);
  expect(isFiltered(view("sort=title&page=2"))).toBe(false);
});

it("survives writing to and reading from the URL, which keeps the language", () => {
  const wanted = {
    q: "sea, wall",
    type: "oil",
    flag: "featured",
    sort: "title",
    layout: "wall",
    page: 3,
  } as const;
  const written = writeView(new URLSearchParams("lang=pt&q=old"), wanted);
  expect(readView(written)).toEqual(wanted);
  expect(written.get("lang")).toBe("pt");
  expect(writeView(written, view("")).toString()).toBe("lang=pt");
});

it("ignores unknown values", () => {
  expect(view("type=sculpture&show=all&sort=price&page=-1&q=" + "a".repeat(200))).toEqual({
    q: "a".repeat(100),
    type: "",
    flag: "",
    sort: "newest",
    layout: "table",
    page: 1,
  });
  expect(view("page=1.5").page).toBe(1);
});

it("escapes characters that have a meaning in a query", () => {
  expect(searchCondition('50%_"a\\b*')).toContain('title.ilike."%50\\\\%\\\\_\\"a\\\\\\\\b_%"');
  expect(searchCondition("sea")).toContain('tags.cs."{\\"sea\\"}"');
});

it("A-missing-texts: finds works with a text in only one of the languages", () => {
  expect(oneLanguageCondition("title")).toBe(
    'and(title.neq."",or(title_pt.is.null,title_pt.eq."")),and(title_pt.neq."",or(title.is.null,title.eq.""))',
  );
  expect(view("show=one-language-title").flag).toBe("one-language-title");
});
