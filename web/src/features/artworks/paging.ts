import type { GalleryFilter } from "@/lib/constants";
import type { Product } from "@/lib/types";

/** How many works one request brings. */
export const WORKS_PER_PAGE = 48;
/** How many works are drawn or taken down at once: whole rows in one, two, three and four columns. */
export const WORKS_PER_BLOCK = 12;

/** One part of the gallery, and how many works the whole of it holds. */
export type GalleryPart = { works: Product[]; total: number };

export function blocksOf(total: number): number {
  return Math.ceil(total / WORKS_PER_BLOCK);
}

/** The position of a block's first work. */
export function startOf(block: number): number {
  return block * WORKS_PER_BLOCK;
}

export function pageOf(block: number): number {
  return Math.floor(startOf(block) / WORKS_PER_PAGE);
}

/** How many works a block has; only the last may be short. */
export function sizeOf(block: number, total: number): number {
  return Math.max(0, Math.min(WORKS_PER_BLOCK, total - startOf(block)));
}

/** The works of a block, out of the page that holds them. */
export function worksOf(block: number, page: Product[]): Product[] {
  const from = startOf(block) % WORKS_PER_PAGE;
  return page.slice(from, from + WORKS_PER_BLOCK);
}

/**
 * What the first works of the whole gallery tell about one type: they begin its list, because both are
 * ordered alike. None among them says nothing unless they are all there is.
 */
export function beginningOf(filter: GalleryFilter, all: GalleryPart): GalleryPart | undefined {
  if (filter === "all") return all;
  const works = all.works.filter((work) => work.artwork_type === filter);
  const complete = all.works.length >= all.total;
  return works.length > 0 || complete ? { works, total: works.length } : undefined;
}
