import { useEffect, useRef } from "react";
import type { ContactStatus, ContactSubmission } from "@/lib/types";

/**
 * Marks a message read once each time it is opened. A status that the owner sets back to New while
 * the message is open therefore stays New.
 */
export function useMarkRead(
  opened: ContactSubmission | null,
  setStatus: (id: string, status: ContactStatus) => void,
): void {
  const marked = useRef<string | null>(null);
  const id = opened?.id ?? null;
  const status = opened?.status;
  useEffect(() => {
    if (marked.current === id) return;
    marked.current = id;
    if (id && status === "new") setStatus(id, "read");
  }, [id, status, setStatus]);
}
