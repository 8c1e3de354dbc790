type Tree = { [name: string]: unknown };

const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/**
 * The values of `next` that differ from `base`, as nested objects. A list is one value. An empty text and 0 equal a
 * missing value.
 */
export function changesOf(base: object, next: object): Tree {
  const before = base as Tree;
  const changed: Tree = {};
  for (const [name, value] of Object.entries(next)) {
    const old = before[name];
    if (isTree(value)) {
      const inner = changesOf(isTree(old) ? old : {}, value);
      if (Object.keys(inner).length > 0) changed[name] = inner;
    } else if (!same(value, old) && !((value === "" || value === 0) && old === undefined)) {
      changed[name] = value;
    }
  }
  return changed;
}
