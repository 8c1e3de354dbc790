/** Where a visitor stood: a block of the wall and one of its works, and where their tops were on the screen. */
export type WallPlace = { block: number; top: number; work: number; workTop: number };

// By history entry, for as long as the page lives.
const places = new Map<string, WallPlace>();

export function worksIn(block: Element): NodeListOf<Element> {
  return block.querySelectorAll("[role=listitem]");
}

/** The first of them that reaches below the top edge of the screen; they stand in their order. */
function firstOnScreen(elements: ArrayLike<Element>): number {
  let low = 0;
  let high = elements.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (elements[middle]!.getBoundingClientRect().bottom > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function placeNow(blocks: ArrayLike<Element>): WallPlace | null {
  const block = firstOnScreen(blocks);
  const element = blocks[block];
  if (!element) return null;
  const { top } = element.getBoundingClientRect();
  const works = worksIn(element);
  const work = firstOnScreen(works);
  return { block, top, work, workTop: works[work]?.getBoundingClientRect().top ?? top };
}

export function keepPlace(entry: string, place: WallPlace | null): void {
  if (place) places.set(entry, place);
}

/** What was kept in this page, or what the history entry itself carries over a reload. */
export function placeOf(entry: string, state: unknown): WallPlace | null {
  const kept = places.get(entry);
  if (kept) return kept;
  const { wall } = (state ?? {}) as { wall?: Partial<WallPlace> | null };
  const { block, top, work, workTop } = wall ?? {};
  const whole = [block, top, work, workTop].every((one) => typeof one === "number");
  return whole ? (wall as WallPlace) : null;
}
