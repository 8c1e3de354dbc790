import { expect, test } from "vitest";
import { freeSlug, seriesSchema, slugOf } from "@/features/admin-products/series-schema";

test.each([
  ["Luz na cal", "luz-na-cal"],
  ["  Água, mar & céu! ", "agua-mar-ceu"],
  ["1968–1974", "1968-1974"],
  ["…", ""],
  ["a".repeat(99) + " b", "a".repeat(99)],
])("the slug of %j is %j", (title, slug) => {
  expect(slugOf(title)).toBe(slug);
});

test("a used slug gets a number", () => {
  expect(freeSlug("mar", [])).toBe("mar");
  expect(freeSlug("mar", ["mar", "mar-2"])).toBe("mar-3");
  expect(freeSlug("a".repeat(100), ["a".repeat(100)])).toHaveLength(98);
  const hyphenAtTheCut = `${"a".repeat(95)}-bcd`;
  expect(freeSlug(hyphenAtTheCut, [hyphenAtTheCut])).toBe(`${"a".repeat(95)}-2`);
});

test("the form rejects used slugs, and slugs with other characters", () => {
  const values = { title: "A", title_pt: "", text: "", text_pt: "", is_published: true };
  const problem = (slug: string) =>
    seriesSchema(["mar"]).safeParse({ ...values, slug }).error?.issues[0]?.message;
  expect(problem("luz-2")).toBeUndefined();
  expect(problem("mar")).toBe("series.slugTaken");
  for (const slug of ["", "Mar", "a--b", "-a", "a b", "a".repeat(101)])
    expect(problem(slug), slug).toBe("series.slugInvalid");
});
