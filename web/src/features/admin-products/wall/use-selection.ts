import { useCallback, useMemo, useRef, useState } from "react";

/**
 * Returns the selected works of the wall (the admin area's list of works as pictures) as a set of ids, in the order in which they
 * were selected, and functions that change the selection. A work that leaves the list `ids` also leaves the selection.
 */
export function useSelection(ids: readonly string[]) {
  // The works that the owner has chosen, including works that have left the list since.
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  // The work at which a selection with Shift begins: the last one that the owner has chosen without Shift.
  const anchor = useRef<string | null>(null);
  const selected = useMemo(() => {
    const listed = new Set(ids);
    return new Set([...chosen].filter((id) => listed.has(id)));
  }, [ids, chosen]);

  /** Selects or deselects a work. If `range` is true (Shift is pressed), selects all works from the anchor to this one. */
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
