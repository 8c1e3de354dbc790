import { MessagesPage } from "@/features/admin-messages/components/messages-page";

export function MessagesRoute() {
  return <MessagesPage />;
}
