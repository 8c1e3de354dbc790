import { describe, expect, test } from "vitest";
import {
  firstPageFromAll,
  blocksOf,
  pageOf,
  sizeOf,
  firstIndexOf,
  ARTWORKS_PER_BLOCK,
  ARTWORKS_PER_PAGE,
  worksOf,
} from "@/features/artworks/paging";
import { aProduct } from "@/test/a-product";

test("blocks are whole rows in every number of columns, and pages are whole blocks", () => {
  for (const columns of [1, 2, 3, 4]) expect(ARTWORKS_PER_BLOCK % columns).toBe(0);
  expect(ARTWORKS_PER_PAGE % ARTWORKS_PER_BLOCK).toBe(0);
});

test.each([0, 1, 11, 12, 13, 48, 49, 5000])(
  "%i works: each is in exactly one block, in order",
  (total) => {
    const works = Array.from({ length: total }, (_, n) => aProduct({ id: String(n) }));
    const inBlocks = Array.from({ length: blocksOf(total) }, (_, block) => {
      const page = works.slice(
        pageOf(block) * ARTWORKS_PER_PAGE,
        (pageOf(block) + 1) * ARTWORKS_PER_PAGE,
      );
      const inBlock = worksOf(block, page);
      expect(inBlock).toHaveLength(sizeOf(block, total));
      expect(inBlock[0]!.id).toBe(String(firstIndexOf(block)));
      return inBlock;
    });
    expect(inBlocks.flat()).toEqual(works);
  },
);

describe("firstPageFromAll", () => {
  const works = [aProduct({ id: "a", artwork_type: "mural" }), aProduct({ id: "b" })];

  test("returns the works of the type on the first page", () => {
    expect(firstPageFromAll("mural", { rows: works, total: 900 })).toEqual({
      rows: [works[0]],
      total: 1,
    });
  });

  test("returns undefined if later pages may have works of the type", () => {
    expect(firstPageFromAll("watercolour", { rows: works, total: 900 })).toBeUndefined();
  });

  test("returns no works if the page has all works and none is of the type", () => {
    expect(firstPageFromAll("watercolour", { rows: works, total: 2 })).toEqual({
      rows: [],
      total: 0,
    });
  });

  test('returns the whole page for the filter "all"', () => {
    expect(firstPageFromAll("all", { rows: works, total: 900 })).toEqual({
      rows: works,
      total: 900,
    });
  });
});
