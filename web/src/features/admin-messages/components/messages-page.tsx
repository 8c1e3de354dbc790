import { useSearchParams } from "react-router";
import { Inbox } from "@/features/admin-messages/components/inbox";
import { Quarantine } from "@/features/admin-messages/components/quarantine";

/** Two lists under one address: what people have written, and what machines probably have. */
export function MessagesPage() {
  const [search] = useSearchParams();
  return search.get("box") === "quarantine" ? <Quarantine /> : <Inbox />;
}
