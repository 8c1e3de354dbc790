import { expect, test, vi } from "vitest";
import { savePosition, currentPosition, savedPosition } from "@/features/artworks/scroll-position";

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

test("finds the first block on the screen and the position of its top", () => {
  expect(currentPosition(blocks(5, 0))).toEqual({ block: 0, top: 0, work: 0, workTop: 0 });
  expect(currentPosition(blocks(5, 2300))).toEqual({ block: 2, top: -300, work: 0, workTop: -300 });
  expect(currentPosition(blocks(417, 416_999))).toEqual({
    block: 416,
    top: -999,
    work: 0,
    workTop: -999,
  });
});

test("has no position without blocks or below the last one", () => {
  expect(currentPosition([])).toBeNull();
  expect(currentPosition(blocks(2, 5000))).toBeNull();
});

test("finds the first work on the screen within the block", () => {
  const [block] = blocks(1, 500);
  const works = blocks(12, 500).map((work, n) => {
    work.setAttribute("role", "listitem");
    vi.mocked(work.getBoundingClientRect).mockReturnValue(new DOMRect(0, n * 100 - 450, 800, 100));
    return work;
  });
  block!.append(...works);
  expect(currentPosition([block!])).toEqual({ block: 0, top: -500, work: 4, workTop: -50 });
});

test("returns the position saved for a history entry, else the one in the state of the entry", () => {
  const here = { block: 7, top: -20, work: 2, workTop: 40 };
  const there = { block: 1, top: 5, work: 0, workTop: 5 };
  savePosition("one", here);
  savePosition("one", null);
  expect(savedPosition("one", { scrollPosition: there })).toEqual(here);
  expect(savedPosition("two", { idx: 0, scrollPosition: there })).toEqual(there);
  expect(savedPosition("three", null)).toBeNull();
  expect(savedPosition("three", { scrollPosition: "far" })).toBeNull();
  expect(savedPosition("three", { scrollPosition: { block: 1, top: 5 } })).toBeNull();
  expect(savedPosition("three", { scrollPosition: null })).toBeNull();
});
