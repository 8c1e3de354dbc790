// Scroll positions in the gallery grid (useScrollRestoration). A position names a work instead of an offset in pixels, because the
// heights of works that are not rendered are only estimated.

/**
 * A position in the gallery grid. `block` is the index of the first block on the screen. `work` is the index, in that block, of the
 * first work on the screen. `top` and `workTop` are the distances of block and work from the top of the window, in CSS pixels.
 */
export type ScrollPosition = { block: number; top: number; work: number; workTop: number };

// The positions saved by this page, by key of the history entry.
const positions = new Map<string, ScrollPosition>();

/** The works of a block that are rendered. */
export function listItems(block: Element): NodeListOf<Element> {
  return block.querySelectorAll("[role=listitem]");
}

/** The index of the first element that ends below the top of the window, found by binary search. */
function firstOnScreen(elements: ArrayLike<Element>): number {
  let low = 0;
  let high = elements.length;
  while (low < high) {
    const middle = (low + high) >> 1; // half of the sum, as an integer
    if (elements[middle]!.getBoundingClientRect().bottom > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The position that is on the screen now; null if no block is. */
export function currentPosition(blocks: ArrayLike<Element>): ScrollPosition | null {
  const block = firstOnScreen(blocks);
  const element = blocks[block];
  if (!element) return null;
  const { top } = element.getBoundingClientRect();
  const works = listItems(element);
  const work = firstOnScreen(works);
  return { block, top, work, workTop: works[work]?.getBoundingClientRect().top ?? top };
}

/** Saves a position for a history entry, by the entry's key. */
export function savePosition(entry: string, position: ScrollPosition | null): void {
  if (position) positions.set(entry, position);
}

/** The position that this page has saved for a history entry. After a reload it is the position in the state of the entry. */
export function savedPosition(entry: string, state: unknown): ScrollPosition | null {
  const saved = positions.get(entry);
  if (saved) return saved;
  const { scrollPosition } = (state ?? {}) as { scrollPosition?: Partial<ScrollPosition> | null };
  const { block, top, work, workTop } = scrollPosition ?? {};
  const isComplete = [block, top, work, workTop].every((value) => typeof value === "number");
  return isComplete ? (scrollPosition as ScrollPosition) : null;
}
