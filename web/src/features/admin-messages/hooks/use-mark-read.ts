import { useEffect, useRef } from "react";
import type { ContactStatus, ContactSubmission } from "@/lib/types";

/**
 * Sets the status of a message from new to read when the owner opens the message. While it stays open, the owner can set the status
 * back to new. While the message is fetched (`isFetching`), the cached row may be old: a message that was replied to on another device
 * must not become read, and one that has become new since must.
 */
export function useMarkRead(
  opened: ContactSubmission | null,
  isFetching: boolean,
  setStatus: (id: string, status: ContactStatus, from: ContactStatus) => void,
): void {
  // The id of the message that this hook has handled since it was opened.
  const handledId = useRef<string | null>(null);
  const id = opened?.id ?? null;
  const status = opened?.status;
  // Handles each opened message only once, so that a status that the owner sets afterwards stays.
  useEffect(() => {
    if (handledId.current === id || (status !== "new" && isFetching)) return;
    handledId.current = id;
    if (id && status === "new") setStatus(id, "read", "new");
  }, [id, status, isFetching, setStatus]);
}
