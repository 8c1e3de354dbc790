import { describe, expect, test } from "vitest";
import {
  beginningOf,
  blocksOf,
  pageOf,
  sizeOf,
  startOf,
  WORKS_PER_BLOCK,
  WORKS_PER_PAGE,
  worksOf,
} from "@/features/artworks/paging";
import { aProduct } from "@/test/a-product";

test("blocks are whole rows in every number of columns, and pages are whole blocks", () => {
  for (const columns of [1, 2, 3, 4]) expect(WORKS_PER_BLOCK % columns).toBe(0);
  expect(WORKS_PER_PAGE % WORKS_PER_BLOCK).toBe(0);
});

test.each([0, 1, 11, 12, 13, 48, 49, 5000])(
  "%i works: every one is in exactly one block, in order",
  (total) => {
    const works = Array.from({ length: total }, (_, n) => aProduct({ id: String(n) }));
    const hung = Array.from({ length: blocksOf(total) }, (_, block) => {
      const page = works.slice(
        pageOf(block) * WORKS_PER_PAGE,
        (pageOf(block) + 1) * WORKS_PER_PAGE,
      );
      const inBlock = worksOf(block, page);
      expect(inBlock).toHaveLength(sizeOf(block, total));
      expect(inBlock[0]!.id).toBe(String(startOf(block)));
      return inBlock;
    });
    expect(hung.flat()).toEqual(works);
  },
);

describe("what the beginning of the whole gallery tells about one type", () => {
  const works = [aProduct({ id: "a", artwork_type: "mural" }), aProduct({ id: "b" })];

  test("its own first works, when there are any", () => {
    expect(beginningOf("mural", { works, total: 900 })).toEqual({ works: [works[0]], total: 1 });
  });

  test("nothing, when none are among the first of many", () => {
    expect(beginningOf("watercolour", { works, total: 900 })).toBeUndefined();
  });

  test("an empty wall, when these are all", () => {
    expect(beginningOf("watercolour", { works, total: 2 })).toEqual({ works: [], total: 0 });
  });

  test("all of it for all", () => {
    expect(beginningOf("all", { works, total: 900 })).toEqual({ works, total: 900 });
  });
});
