import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { LIST_PAGE_ROWS, LIST_SEARCH_MAX } from "@/lib/constants";

/** The entry that the address names; what the list does not know counts as not said. */
export const oneOf = <T extends string>(list: readonly T[], text: string | null): T | undefined =>
  list.find((entry) => entry === text);

export function readPage(search: URLSearchParams): number {
  const page = Number(search.get("page"));
  return Number.isInteger(page) && page > 1 && page < 100_000 ? page : 1;
}

export const readQuery = (search: URLSearchParams): string =>
  (search.get("q") ?? "").slice(0, LIST_SEARCH_MAX);

/** The address with these values, but for presets, which go without saying; what else stands in it (the language) stays. */
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

export const pageCount = (total: number): number => Math.max(1, Math.ceil(total / LIST_PAGE_ROWS));

/**
 * The view of a list in the address: a reload and Back find it again. A change goes to the first page unless it names
 * one; what is replaced leaves no step for Back.
 */
export function useListAddress<View extends { page: number }>(
  readView: (search: URLSearchParams) => View,
  writeView: (search: URLSearchParams, view: View) => URLSearchParams,
) {
  const [search, setSearch] = useSearchParams();
  const view = useMemo(() => readView(search), [readView, search]);
  const change = useCallback(
    (part: Partial<View>, replace = false) =>
      setSearch((now) => writeView(now, { ...readView(now), page: 1, ...part }), { replace }),
    [readView, writeView, setSearch],
  );
  return { view, change };
}
