import { useSearchParams } from "react-router";
import { Inbox } from "@/features/admin-messages/components/inbox";
import { MessageData } from "@/features/admin-messages/components/message-data";
import { SavedReplies } from "@/features/admin-messages/components/saved-replies";
import { Quarantine } from "@/features/admin-messages/components/quarantine";

/**
 * The admin page of messages. The parameter ?box= of the URL selects its part:
 *  - quarantine: the messages that look like spam or are from a flood
 *  - data: the export of messages, and the erasing of everything about an email address
 *  - replies: the saved replies (texts that the owner inserts into replies)
 *  - without the parameter: the inbox
 */
export function MessagesPage() {
  const [search] = useSearchParams();
  const box = search.get("box");
  if (box === "data") return <MessageData />;
  if (box === "replies") return <SavedReplies />;
  return box === "quarantine" ? <Quarantine /> : <Inbox />;
}
