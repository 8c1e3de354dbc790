import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { readView, writeView, type ListView } from "@/features/admin-products/list-view";

/**
 * The view in the address: a reload and Back find it again. A change goes to the first page unless it names one;
 * what is replaced leaves no step for Back.
 */
export function useListView() {
  const [search, setSearch] = useSearchParams();
  const view = useMemo(() => readView(search), [search]);
  const change = useCallback(
    (part: Partial<ListView>, replace = false) =>
      setSearch((now) => writeView(now, { ...readView(now), page: 1, ...part }), { replace }),
    [setSearch],
  );
  return { view, change };
}
