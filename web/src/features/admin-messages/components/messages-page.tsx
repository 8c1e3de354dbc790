import { useSearchParams } from "react-router";
import { Inbox } from "@/features/admin-messages/components/inbox";
import { MessageData } from "@/features/admin-messages/components/message-data";
import { SavedReplies } from "@/features/admin-messages/components/saved-replies";
import { Quarantine } from "@/features/admin-messages/components/quarantine";

/**
 * The admin page of messages. The parameter ?box= of the URL selects its part: `quarantine`, `data` (export and erasing) or
 * `replies` (the saved replies). Without it the page shows the inbox.
 */
export function MessagesPage() {
  const [search] = useSearchParams();
  const box = search.get("box");
  if (box === "data") return <MessageData />;
  if (box === "replies") return <SavedReplies />;
  return box === "quarantine" ? <Quarantine /> : <Inbox />;
}
