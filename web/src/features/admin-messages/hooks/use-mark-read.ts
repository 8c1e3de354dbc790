import { useEffect, useRef } from "react";
import type { ContactStatus, ContactSubmission } from "@/lib/types";

/** Marks a new message as read when it is opened. While the message stays open, the owner can set it back to New. */
export function useMarkRead(
  opened: ContactSubmission | null,
  setStatus: (id: string, status: ContactStatus) => void,
): void {
  // The id of the message that this hook has handled since it was opened.
  const handledId = useRef<string | null>(null);
  const id = opened?.id ?? null;
  const status = opened?.status;
  // Runs only when another message is opened, so that a status that the owner sets stays.
  useEffect(() => {
    if (handledId.current === id) return;
    handledId.current = id;
    if (id && status === "new") setStatus(id, "read");
  }, [id, status, setStatus]);
}
