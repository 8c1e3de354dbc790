import { CommissionBoard } from "@/features/admin-messages/components/commission-board";

/** The route /admin/contact-messages/board: the board, which shows the commissions by stage. */
export function BoardRoute() {
  return <CommissionBoard />;
}
