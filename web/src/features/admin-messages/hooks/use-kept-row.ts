import { useEffect, useState } from "react";

/**
 * The list with the opened row in its place, also when it no longer fits the filter: opening an unread message
 * marks it read, and among the unread ones it would vanish under the reader's eyes.
 */
export function useKeptRow<Row extends { id: string }>(
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
