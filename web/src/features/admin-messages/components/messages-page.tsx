import { useSearchParams } from "react-router";
import { Inbox } from "@/features/admin-messages/components/inbox";
import { Quarantine } from "@/features/admin-messages/components/quarantine";

/** The admin page of messages: the quarantine if the URL has ?box=quarantine, else the inbox. */
export function MessagesPage() {
  const [search] = useSearchParams();
  return search.get("box") === "quarantine" ? <Quarantine /> : <Inbox />;
}
