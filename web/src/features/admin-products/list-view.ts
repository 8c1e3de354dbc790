import { ARTWORK_TYPES } from "@/lib/constants";
import { oneOf, readPage, readQuery, withValues } from "@/lib/list-url";
import { containing, quoted } from "@/lib/text-filter";
import type { ArtworkType } from "@/lib/types";

// The view of the list of works is its search text, filters, order, layout and page. The view is read from the URL and written to it, so
// that a reload and Back show the same list. A new filter needs an entry in FLAGS, a condition in api/list-products.ts,
// and a text with the key products.flag.<entry>.

/** The choices of the filter Show. "one-language-title" finds works whose title exists in only one of the two languages. */
export const FLAGS = [
  "featured",
  "out-of-stock",
  "customizable",
  "not-in-gallery",
  "draft",
  "scheduled",
  "one-language-title",
  "one-language-description",
  "one-language-medium",
  "one-language-seo",
  "no-alt-texts",
] as const;
type Flag = (typeof FLAGS)[number];

/**
 * The orders of the list of works. The first one is the default. "newest" and "oldest" sort by when the work was added to the site,
 * "date" and "date-desc" by the date of the work. "manual" is the owner's order (products.position).
 */
export const SORTS = [
  "newest",
  "oldest",
  "title",
  "title-desc",
  "type",
  "date-desc",
  "date",
  "manual",
] as const;
/** An order of the list of works. */
export type Sort = (typeof SORTS)[number];

/** How the works are listed: as a table, or as a wall of pictures. The first one is the default. */
export const LAYOUTS = ["table", "wall"] as const;

/**
 * What the list shows. `q` is the search text. `flag` is the choice of the filter Show, and has the name ?show= in the URL. `layout`
 * has the name ?as= in the URL. "" in q, type or flag means no filter.
 */
export type ProductView = {
  q: string;
  type: ArtworkType | "";
  flag: Flag | "";
  sort: Sort;
  layout: (typeof LAYOUTS)[number];
  page: number;
};

/** Parses the view from the query string of the URL. Unknown values are ignored. */
export function readView(search: URLSearchParams): ProductView {
  return {
    q: readQuery(search),
    type: oneOf(ARTWORK_TYPES, search.get("type")) ?? "",
    flag: oneOf(FLAGS, search.get("show")) ?? "",
    sort: oneOf(SORTS, search.get("sort")) ?? SORTS[0],
    layout: oneOf(LAYOUTS, search.get("as")) ?? LAYOUTS[0],
    page: readPage(search),
  };
}

/** Returns the query string of the URL for a view. Each pair is a value and its default. A default is not written to the URL. */
export const writeView = (search: URLSearchParams, view: ProductView): URLSearchParams =>
  withValues(search, {
    q: [view.q, ""],
    type: [view.type, ""],
    show: [view.flag, ""],
    sort: [view.sort, SORTS[0]],
    as: [view.layout, LAYOUTS[0]],
    page: [String(view.page), "1"],
  });

/** Whether the view has a search text or a filter. */
export const isFiltered = (view: ProductView): boolean =>
  view.q.trim() !== "" || view.type !== "" || view.flag !== "";

const SEARCHED_FIELDS = [
  "title",
  "description",
  "medium",
  "dimensions",
  "title_pt",
  "description_pt",
  "medium_pt",
] as const;
const TAGS_CONTAIN = "tags.cs."; // PostgREST's "contains": the list has the element

/** The condition for the query builder's `or` that matches works with this text in a field or with this tag. */
export const searchCondition = (q: string): string =>
  [...containing(SEARCHED_FIELDS, q), `${TAGS_CONTAIN}${quoted(`{${quoted(q)}}`)}`].join(",");

/** The condition for the query builder's `or` that matches works with one of these texts in one language only. */
export function oneLanguageCondition(...fields: readonly string[]): string {
  const only = (has: string, lacks: string) =>
    `and(${has}.neq."",or(${lacks}.is.null,${lacks}.eq.""))`;
  return fields
    .flatMap((field) => [only(field, `${field}_pt`), only(`${field}_pt`, field)])
    .join(",");
}
