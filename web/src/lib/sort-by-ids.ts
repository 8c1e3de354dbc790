/**
 * Sorts rows by the order of the ids and numbers them from `start`, as the server does. Rows whose ids are not in the list are
 * last.
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
