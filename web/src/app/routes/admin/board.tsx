import { CommissionBoard } from "@/features/admin-messages/components/commission-board";

/** The route /admin/contact-messages/board. */
export function BoardRoute() {
  return <CommissionBoard />;
}
