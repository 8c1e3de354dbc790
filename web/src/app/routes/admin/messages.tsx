import { MessagesPage } from "@/features/admin-messages/components/messages-page";

/** The route /admin/contact-messages: the page with the messages that visitors have sent. */
export function MessagesRoute() {
  return <MessagesPage />;
}
