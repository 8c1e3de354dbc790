/**
 * Returns a copy of the list in which the item at index `from` is moved to index `to`. If `to` is outside the list, the item is moved
 * to the nearest end. If `from` is outside the list, nothing is moved.
 */
export function moveItem<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  if (from < 0 || from >= list.length) return next;
  next.splice(Math.max(0, Math.min(to, list.length - 1)), 0, ...next.splice(from, 1));
  return next;
}
