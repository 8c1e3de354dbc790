import type { GalleryFilter } from "@/lib/gallery-settings";
import type { RowsPage } from "@/lib/backend";
import type { Product } from "@/lib/types";

// The gallery grid loads works in pages and renders them in blocks. A page is several blocks. Pages and blocks are counted from 0.

/** Works per request. */
export const ARTWORKS_PER_PAGE = 48;
/** Works per rendered block. 12 works are whole rows in one, two, three and four columns. */
export const ARTWORKS_PER_BLOCK = 12;

/** A page of works and the total number of works. */
export type ArtworksPage = RowsPage<Product>;

/** The number of blocks of a list of `total` works. */
export function blocksOf(total: number): number {
  return Math.ceil(total / ARTWORKS_PER_BLOCK);
}

/** The index of a block's first work. */
export function firstIndexOf(block: number): number {
  return block * ARTWORKS_PER_BLOCK;
}

/** The page that contains a block. */
export function pageOf(block: number): number {
  return Math.floor(firstIndexOf(block) / ARTWORKS_PER_PAGE);
}

/** The number of works in a block. Only the last block may have fewer than ARTWORKS_PER_BLOCK. */
export function sizeOf(block: number, total: number): number {
  return Math.max(0, Math.min(ARTWORKS_PER_BLOCK, total - firstIndexOf(block)));
}

/** The works of a block, from the page that contains it. */
export function worksOf(block: number, page: Product[]): Product[] {
  const from = firstIndexOf(block) % ARTWORKS_PER_PAGE;
  return page.slice(from, from + ARTWORKS_PER_BLOCK);
}

/**
 * The page that a filter shows until its own first page has loaded. It is made from `all`, the first page of all works, which has the
 * same order: the works of the filter on that page. Undefined if there are none, but later pages of all works may have one.
 */
export function firstPageFromAll(
  filter: GalleryFilter,
  all: ArtworksPage,
): ArtworksPage | undefined {
  if (filter === "all") return all;
  const rows = all.rows.filter((work) => work.artwork_type === filter);
  const hasAllWorks = all.rows.length >= all.total;
  return rows.length > 0 || hasAllWorks ? { rows, total: rows.length } : undefined;
}
