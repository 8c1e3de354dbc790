/** A copy with one item moved; targets outside the list mean its ends. */
export function moveItem<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  if (from < 0 || from >= list.length) return next;
  next.splice(Math.max(0, Math.min(to, list.length - 1)), 0, ...next.splice(from, 1));
  return next;
}
