import { MessagesPage } from "@/features/admin-messages/components/messages-page";

/** The route /admin/contact-messages. */
export function MessagesRoute() {
  return <MessagesPage />;
}
