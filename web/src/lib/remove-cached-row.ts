import type { QueryClient, QueryKey } from "@tanstack/react-query";

type Row = { id: string };
type List = Row[] | { rows: Row[]; total: number };

/**
 * Removes a deleted row from all cached lists whose key begins with `queryKey`. Running requests are cancelled, because their responses
 * could still contain the row, whose pictures no longer exist.
 */
export async function removeCachedRow(
  queryClient: QueryClient,
  queryKey: QueryKey,
  id: string,
): Promise<void> {
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueriesData<List>({ queryKey }, (list) => {
    if (!list) return list;
    if (Array.isArray(list)) return list.filter((row) => row.id !== id);
    const rows = list.rows.filter((row) => row.id !== id);
    return { rows, total: list.total - (list.rows.length - rows.length) };
  });
}
