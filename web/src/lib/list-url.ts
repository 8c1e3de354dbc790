import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { LIST_PAGE_ROWS, LIST_SEARCH_MAX } from "@/lib/constants";

// Reads and writes the view of an admin list (search text, filters, page) in the query string of the URL. Lists use useListUrl.

/** Returns the text, with the type of the list's entries, if the list contains the text; else undefined. */
export const oneOf = <T extends string>(list: readonly T[], text: string | null): T | undefined =>
  list.find((entry) => entry === text);

/** The page number in the URL; 1 if it is missing or invalid. */
export function readPage(search: URLSearchParams): number {
  const page = Number(search.get("page"));
  return Number.isInteger(page) && page > 1 && page < 100_000 ? page : 1;
}

/** The search text in the URL. */
export const readQuery = (search: URLSearchParams): string =>
  (search.get("q") ?? "").slice(0, LIST_SEARCH_MAX);

/**
 * Sets parameters of the query string and keeps all other parameters. A parameter whose value equals its default (`preset`) is
 * removed.
 */
export function withValues(
  search: URLSearchParams,
  values: Record<string, [value: string, preset: string]>,
): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const [name, [value, preset]] of Object.entries(values)) {
    if (value === preset) next.delete(name);
    else next.set(name, value);
  }
  return next;
}

/** The number of pages of a list; at least 1. */
export const pageCount = (total: number): number => Math.max(1, Math.ceil(total / LIST_PAGE_ROWS));

/**
 * The view of a list, and a function that changes it. The view is in the URL, so that it survives reloads and Back. A change
 * without `page` returns to the first page. With `replace`, the new URL replaces the history entry.
 */
export function useListUrl<View extends { page: number }>(
  readView: (search: URLSearchParams) => View,
  writeView: (search: URLSearchParams, view: View) => URLSearchParams,
) {
  const [search, setSearch] = useSearchParams();
  const view = useMemo(() => readView(search), [readView, search]);
  const change = useCallback(
    (part: Partial<View>, { replace = false }: { replace?: boolean } = {}) =>
      setSearch((now) => writeView(now, { ...readView(now), page: 1, ...part }), { replace }),
    [readView, writeView, setSearch],
  );
  return { view, change };
}
