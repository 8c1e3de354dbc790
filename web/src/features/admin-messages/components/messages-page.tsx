import { useSearchParams } from "react-router";
import { Inbox } from "@/features/admin-messages/components/inbox";
import { MessageData } from "@/features/admin-messages/components/message-data";
import { Quarantine } from "@/features/admin-messages/components/quarantine";

/** The admin page of messages: the quarantine for ?box=quarantine, export and erasing for ?box=data, else the inbox. */
export function MessagesPage() {
  const [search] = useSearchParams();
  const box = search.get("box");
  if (box === "data") return <MessageData />;
  return box === "quarantine" ? <Quarantine /> : <Inbox />;
}
