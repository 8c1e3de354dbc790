// This file compares two versions of the settings, so that a save sends only what the owner has changed, and keeps what the owner types
// while it runs.

/** A JSON object. */
type Tree = { [name: string]: unknown };

const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/**
 * Returns the fields of `next` that differ from `base`, nested as they are in `next`. An array that differs is included as a whole.
 * An empty string, 0 or false counts as unchanged if `base` lacks the field. For example, changesOf({ a: 1, b: { c: 2, d: 3 } },
 * { a: 1, b: { c: 2, d: 4 }, e: "" }) is { b: { d: 4 } }.
 */
export function changesOf(base: object, next: object): Tree {
  const before = base as Tree;
  const changes: Tree = {};
  for (const [name, value] of Object.entries(next)) {
    const oldValue = before[name];
    const isEmpty = value === "" || value === 0 || value === false;
    const isStillUnset = isEmpty && oldValue === undefined;
    if (isTree(value)) {
      const inner = changesOf(isTree(oldValue) ? oldValue : {}, value);
      if (Object.keys(inner).length > 0) changes[name] = inner;
    } else if (!isStillUnset && !isSame(value, oldValue)) {
      changes[name] = value;
    }
  }
  return changes;
}

/**
 * Returns `saved` (the values of a form after a save) with what the owner has typed while the save ran: the values in which `typed`
 * differs from `sent`, the values that the form had before.
 */
export function keepTyped<Values extends object>(
  saved: Values,
  sent: Values,
  typed: Values,
): Values {
  const kept = { ...saved } as Tree;
  for (const [name, now] of Object.entries(typed as Tree)) {
    const value = kept[name];
    const before = (sent as Tree)[name];
    if (isTree(now) && isTree(value) && isTree(before)) {
      kept[name] = keepTyped(value, before, now);
    } else if (!isSame(now, before)) {
      kept[name] = now;
    }
  }
  return kept as Values;
}
