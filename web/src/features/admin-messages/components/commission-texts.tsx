import { useState } from "react";
import { useIsCommissionBusy } from "@/features/admin-messages/api/commission";
import { CommissionOfferForm } from "@/features/admin-messages/components/commission-offer-form";
import { CommissionProgressForm } from "@/features/admin-messages/components/commission-progress-form";
import { hasMessageDraft } from "@/features/admin-messages/hooks/use-message-draft";
import { Button } from "@/components/ui/button";
import { useT } from "@/lib/i18n";
import type { CommissionState } from "@/lib/types";

/**
 * Buttons that open the forms for an offer and a note on the progress, where the stage allows them. A form with a draft is open from the
 * beginning, for example after a phone was turned.
 */
export function CommissionTexts({
  messageId,
  state,
}: {
  messageId: string;
  state: CommissionState;
}) {
  const t = useT();
  const offers = state.stage === "enquiry" || state.stage === "offer" || state.stage === "declined";
  const works = state.stage === "accepted" || state.stage === "in_progress";
  const allowed = offers ? "offer" : works ? "progress" : null;
  const [opened, setOpened] = useState<"offer" | "progress" | null>(() =>
    allowed && hasMessageDraft(allowed, messageId) ? allowed : null,
  );
  const busy = useIsCommissionBusy(messageId);
  const toggle = (form: "offer" | "progress") => ({
    "aria-expanded": opened === form,
    loading: busy && opened === form, // a form stays open until its text has arrived
    onClick: () => setOpened(opened === form ? null : form),
  });
  const close = () => setOpened(null);
  return (
    <div className="mt-4">
      {offers && (
        <Button variant="outline" size="sm" {...toggle("offer")}>
          {t("commission.makeOffer")}
        </Button>
      )}
      {works && (
        <Button variant="outline" size="sm" {...toggle("progress")}>
          {t("commission.writeProgress")}
        </Button>
      )}
      {offers && opened === "offer" && (
        <CommissionOfferForm messageId={messageId} terms={state.terms} onSent={close} />
      )}
      {works && opened === "progress" && (
        <CommissionProgressForm messageId={messageId} onSent={close} />
      )}
    </div>
  );
}
