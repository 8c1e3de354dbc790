import { useEffect, useState } from "react";

/**
 * Returns the rows with the opened row kept in its place after it has stopped matching the filter. Otherwise an unread
 * message would vanish from the list of unread ones when it is opened, since that marks it read. `list` identifies the
 * filter and page.
 */
export function usePinnedRow<Row extends { id: string }>(
  rows: Row[],
  opened: Row | null,
  list: string,
): Row[] {
  const [place, setPlace] = useState({ list: "", id: "", index: 0 });
  const id = opened?.id;
  const index = id === undefined ? -1 : rows.findIndex((row) => row.id === id);
  useEffect(() => {
    if (id !== undefined && index >= 0) setPlace({ list, id, index });
  }, [list, id, index]);
  if (!opened || index >= 0 || place.id !== id || place.list !== list) return rows;
  return [...rows.slice(0, place.index), opened, ...rows.slice(place.index)];
}
