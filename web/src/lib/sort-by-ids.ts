/**
 * Sorts rows by the order of the ids, and numbers their display_order from `start`, as the server does. Rows whose ids are not in `ids`
 * are last. Lists show this order while the server stores it.
 */
export function sortByIds<Row extends { id: string; display_order: number | null }>(
  rows: readonly Row[],
  ids: readonly string[],
  start: number,
): Row[] {
  const place = new Map(ids.map((id, n) => [id, n]));
  return rows
    .toSorted((a, b) => (place.get(a.id) ?? Infinity) - (place.get(b.id) ?? Infinity))
    .map((row, n) => ({ ...row, display_order: n + start }));
}
