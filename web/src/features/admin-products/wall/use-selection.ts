import { useCallback, useMemo, useRef, useState } from "react";

/**
 * The selected works of a list, by their ids, in the order in which they were selected. A work that leaves the list also leaves
 * the selection.
 */
export function useSelection(ids: readonly string[]) {
  // The works that the owner chose, including works that have left the list since.
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  // The work from which a selection with Shift extends.
  const anchor = useRef<string | null>(null);
  const selected = useMemo(() => {
    const listed = new Set(ids);
    return new Set([...chosen].filter((id) => listed.has(id)));
  }, [ids, chosen]);

  /** Selects or deselects a work. With `range` it instead selects all works from the last chosen one to this one. */
  const toggle = useCallback(
    (id: string, range = false) => {
      const from = anchor.current === null ? -1 : ids.indexOf(anchor.current);
      const to = ids.indexOf(id);
      if (range && from >= 0) {
        const between = ids.slice(Math.min(from, to), Math.max(from, to) + 1);
        setChosen((before) => new Set([...before, ...between]));
        return;
      }
      anchor.current = id;
      setChosen((before) => {
        const next = new Set(before);
        if (!next.delete(id)) next.add(id);
        return next;
      });
    },
    [ids],
  );
  /** Replaces the selection. */
  const select = useCallback((next: Iterable<string>) => setChosen(new Set(next)), []);
  return { selected, toggle, select };
}
