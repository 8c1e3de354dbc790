import { useEffect, useRef } from "react";
import type { ContactStatus, ContactSubmission } from "@/lib/types";

/** Marks a new message as read when it is opened, once, so that the owner can set the open message back to New. */
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
