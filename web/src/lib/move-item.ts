/**
 * A copy of the list with one item moved. A target outside the list means its nearest end; `from` outside it moves nothing.
 */
export function moveItem<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  if (from < 0 || from >= list.length) return next;
  next.splice(Math.max(0, Math.min(to, list.length - 1)), 0, ...next.splice(from, 1));
  return next;
}
