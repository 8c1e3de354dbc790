import { expect, test, vi } from "vitest";
import { keepPlace, placeNow, placeOf } from "@/features/artworks/wall-place";

/** Blocks of 1000 px on a page that was scrolled by `y`. */
function blocks(count: number, y: number): Element[] {
  return Array.from({ length: count }, (_, n) => {
    const element = document.createElement("div");
    vi.spyOn(element, "getBoundingClientRect").mockReturnValue(
      new DOMRect(0, n * 1000 - y, 800, 1000),
    );
    return element;
  });
}

test("the first block that is still on the screen, and where its top is", () => {
  expect(placeNow(blocks(5, 0))).toEqual({ block: 0, top: 0, work: 0, workTop: 0 });
  expect(placeNow(blocks(5, 2300))).toEqual({ block: 2, top: -300, work: 0, workTop: -300 });
  expect(placeNow(blocks(417, 416_999))).toEqual({ block: 416, top: -999, work: 0, workTop: -999 });
});

test("no place above nothing, nor below the last", () => {
  expect(placeNow([])).toBeNull();
  expect(placeNow(blocks(2, 5000))).toBeNull();
});

test("within the block, the first work on the screen", () => {
  const [block] = blocks(1, 500);
  const works = blocks(12, 500).map((work, n) => {
    work.setAttribute("role", "listitem");
    vi.mocked(work.getBoundingClientRect).mockReturnValue(new DOMRect(0, n * 100 - 450, 800, 100));
    return work;
  });
  block!.append(...works);
  expect(placeNow([block!])).toEqual({ block: 0, top: -500, work: 4, workTop: -50 });
});

test("a place is kept by history entry, and else read from the entry's own state", () => {
  const here = { block: 7, top: -20, work: 2, workTop: 40 };
  const there = { block: 1, top: 5, work: 0, workTop: 5 };
  keepPlace("one", here);
  keepPlace("one", null);
  expect(placeOf("one", { wall: there })).toEqual(here);
  expect(placeOf("two", { idx: 0, wall: there })).toEqual(there);
  expect(placeOf("three", null)).toBeNull();
  expect(placeOf("three", { wall: "far" })).toBeNull();
  expect(placeOf("three", { wall: { block: 1, top: 5 } })).toBeNull();
  expect(placeOf("three", { wall: null })).toBeNull();
});
