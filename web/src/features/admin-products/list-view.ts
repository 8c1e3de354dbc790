import { ARTWORK_TYPES } from "@/lib/constants";
import { oneOf, readPage, readQuery, withValues } from "@/lib/list-address";
import { containing, quoted } from "@/lib/text-filter";
import type { ArtworkType } from "@/lib/types";

export const FLAGS = ["featured", "out-of-stock", "customizable", "not-in-gallery"] as const;
export type Flag = (typeof FLAGS)[number];

// The first is what the specification asks for: newest first (§7).
export const SORTS = [
  "newest",
  "oldest",
  "title",
  "title-desc",
  "type",
  "date-desc",
  "date",
] as const;
export type Sort = (typeof SORTS)[number];

/** What part of the works the table shows; all of it stands in the address. */
export type ListView = {
  q: string;
  type: ArtworkType | "";
  flag: Flag | "";
  sort: Sort;
  page: number;
};

/** Reads the address; what it does not know counts as not said. */
export function readView(search: URLSearchParams): ListView {
  return {
    q: readQuery(search),
    type: oneOf(ARTWORK_TYPES, search.get("type")) ?? "",
    flag: oneOf(FLAGS, search.get("show")) ?? "",
    sort: oneOf(SORTS, search.get("sort")) ?? SORTS[0],
    page: readPage(search),
  };
}

/** The address's search for a view. */
export const writeView = (search: URLSearchParams, view: ListView): URLSearchParams =>
  withValues(search, {
    q: [view.q, ""],
    type: [view.type, ""],
    show: [view.flag, ""],
    sort: [view.sort, SORTS[0]],
    page: [String(view.page), "1"],
  });

export const isFiltered = (view: ListView): boolean =>
  view.q.trim() !== "" || view.type !== "" || view.flag !== "";

const SEARCHED = ["title", "description", "medium", "dimensions"] as const;
const TAGGED = "tags.cs."; // the list holds the element

/** The condition that finds a text in a work, for the query builder's `or`. */
export const searchCondition = (q: string): string =>
  [...containing(SEARCHED, q), `${TAGGED}${quoted(`{${quoted(q)}}`)}`].join(",");
