import { ARTWORK_TYPES, PRODUCTS_PER_PAGE } from "@/lib/constants";
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

export const QUERY_MAX = 100;

const oneOf = <T extends string>(list: readonly T[], text: string | null): T | undefined =>
  list.find((entry) => entry === text);

/** Reads the address; what it does not know counts as not said. */
export function readView(search: URLSearchParams): ListView {
  const page = Number(search.get("page"));
  return {
    q: (search.get("q") ?? "").slice(0, QUERY_MAX),
    type: oneOf(ARTWORK_TYPES, search.get("type")) ?? "",
    flag: oneOf(FLAGS, search.get("show")) ?? "",
    sort: oneOf(SORTS, search.get("sort")) ?? SORTS[0],
    page: Number.isInteger(page) && page > 1 && page < 100_000 ? page : 1,
  };
}

/** The address's search for a view; whatever else stands in it (the language) stays. */
export function writeView(search: URLSearchParams, view: ListView): URLSearchParams {
  const next = new URLSearchParams(search);
  const set = (name: string, value: string, preset: string) =>
    value === preset ? next.delete(name) : next.set(name, value);
  set("q", view.q, "");
  set("type", view.type, "");
  set("show", view.flag, "");
  set("sort", view.sort, SORTS[0]);
  set("page", String(view.page), "1");
  return next;
}

export const isFiltered = (view: ListView): boolean =>
  view.q.trim() !== "" || view.type !== "" || view.flag !== "";

export const pageCount = (total: number): number =>
  Math.max(1, Math.ceil(total / PRODUCTS_PER_PAGE));

const SEARCHED = ["title", "description", "medium", "dimensions"] as const;

/** A value in the wire form's lists: quoted, so that commas and brackets in it are only letters. */
export const quoted = (text: string) => `"${text.replace(/[\\"]/g, "\\$&")}"`;

/**
 * The condition that finds a text in a work, for the query builder's `or`. The marks of LIKE are taken literally;
 * the wire form knows no way to write a star, so that it stands for any one character.
 */
export function searchCondition(q: string): string {
  const literal = q.replace(/[\\%_]/g, "\\$&").replaceAll("*", "_");
  return [
    ...SEARCHED.map((column) => `${column}.ilike.${quoted(`%${literal}%`)}`),
    ["tags", "cs", quoted(`{${quoted(q)}}`)].join("."),
  ].join(",");
}
