import { useCommission } from "@/features/admin-messages/api/commission";
import { CommissionOfferForm } from "@/features/admin-messages/components/commission-offer-form";
import { Button } from "@/components/ui/button";
import {
  DialogClose,
  DialogContent,
  DialogDescription,
  DialogRoot,
  DialogTitle,
} from "@/components/ui/dialog";
import { useT } from "@/lib/i18n";
import type { BoardCard } from "@/lib/types";

type BoardOfferDialogProps = {
  /** The card (a commission on the board) that was moved from the stage `enquiry` to the stage `offer`. Null closes the dialog. */
  card: BoardCard | null;
  onSent(): void;
  /** Moves the card without sending an offer. The owner may have made the offer outside the site. */
  onMoveOnly(): void;
  onClose(): void;
};

/**
 * The dialog that the board of commissions opens when the owner moves a card from the stage `enquiry` to the stage `offer`. It has
 * the form for an offer (what the owner would do for which price). The card stays in its column until the offer is sent.
 */
export function BoardOfferDialog({ card, onSent, onMoveOnly, onClose }: BoardOfferDialogProps) {
  const t = useT();
  return (
    <DialogRoot
      open={card !== null}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <DialogContent className="max-w-[720px] p-6 sm:p-8" aria-describedby="board-offer-hint">
        <DialogClose />
        <DialogTitle className="pr-12 text-[1.75rem] leading-tight font-[350] break-words">
          {t("board.offerTitle", { name: card?.name ?? "" })}
        </DialogTitle>
        <DialogDescription id="board-offer-hint" className="text-ink2 mt-2 text-sm">
          {t("board.offerHint")}
        </DialogDescription>
        {card && <OfferForm card={card} onSent={onSent} />}
        <Button variant="ghost" size="sm" className="mt-3 -ml-3 px-3" onClick={onMoveOnly}>
          {t("board.moveOnly")}
        </Button>
      </DialogContent>
    </DialogRoot>
  );
}

/** The form for the offer. Renders nothing until the owner's terms, which the offer will have, are loaded. */
function OfferForm({ card, onSent }: { card: BoardCard; onSent(): void }) {
  const { data } = useCommission(card.message_id);
  return (
    data && <CommissionOfferForm messageId={card.message_id} terms={data.terms} onSent={onSent} />
  );
}
