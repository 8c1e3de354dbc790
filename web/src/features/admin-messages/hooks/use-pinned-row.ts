import { useEffect, useState } from "react";

/**
 * Keeps the opened row in a list, even if the row no longer matches the filter. Without this hook, an unread message would vanish from
 * the list of unread ones when it is opened, because opening marks it as read. Returns the rows, with the opened row at its former
 * index. `listKey` identifies the filter and the page of the list.
 */
export function usePinnedRow<Row extends { id: string }>(
  rows: Row[],
  opened: Row | null,
  listKey: string,
): Row[] {
  // Where the opened row was when it was last among the rows.
  const [lastPosition, setLastPosition] = useState({ listKey: "", id: "", index: 0 });
  const id = opened?.id;
  const index = id === undefined ? -1 : rows.findIndex((row) => row.id === id);
  useEffect(() => {
    if (id !== undefined && index >= 0) setLastPosition({ listKey, id, index });
  }, [listKey, id, index]);
  if (!opened || index >= 0 || lastPosition.id !== id || lastPosition.listKey !== listKey)
    return rows;
  return [...rows.slice(0, lastPosition.index), opened, ...rows.slice(lastPosition.index)];
}
