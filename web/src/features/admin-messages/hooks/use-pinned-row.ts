import { useEffect, useState } from "react";

/**
 * Returns the rows of a list, and the opened row in its last place if it no longer matches the filter. Otherwise an unread
 * message would vanish from the list of unread ones when it is opened, because opening marks it as read. `listKey`
 * identifies the filter and page.
 */
export function usePinnedRow<Row extends { id: string }>(
  rows: Row[],
  opened: Row | null,
  listKey: string,
): Row[] {
  // Where the opened row was last in the list.
  const [lastPlace, setLastPlace] = useState({ listKey: "", id: "", index: 0 });
  const id = opened?.id;
  const index = id === undefined ? -1 : rows.findIndex((row) => row.id === id);
  useEffect(() => {
    if (id !== undefined && index >= 0) setLastPlace({ listKey, id, index });
  }, [listKey, id, index]);
  if (!opened || index >= 0 || lastPlace.id !== id || lastPlace.listKey !== listKey) return rows;
  return [...rows.slice(0, lastPlace.index), opened, ...rows.slice(lastPlace.index)];
}
