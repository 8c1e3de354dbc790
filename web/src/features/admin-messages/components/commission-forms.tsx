import { useState } from "react";
import { useIsCommissionBusy } from "@/features/admin-messages/api/commission";
import { CommissionOfferForm } from "@/features/admin-messages/components/commission-offer-form";
import { CommissionProgressForm } from "@/features/admin-messages/components/commission-progress-form";
import { hasMessageDraft } from "@/features/admin-messages/hooks/use-message-draft";
import { Button } from "@/components/ui/button";
import { useT } from "@/lib/i18n";
import type { CommissionState } from "@/lib/types";

/**
 * A button for an offer, or for a note on the progress, if the stage of the commission allows one of them. The button opens a form.
 * If the form has a draft (a text that is not sent yet), it is open at first. So a form in which the owner was writing stays open when
 * a phone is turned, which mounts this component again.
 */
export function CommissionForms({
  messageId,
  state,
}: {
  messageId: string;
  state: CommissionState;
}) {
  const t = useT();
  const canOffer =
    state.stage === "enquiry" || state.stage === "offer" || state.stage === "declined";
  const canReport = state.stage === "accepted" || state.stage === "in_progress";
  // The form that the stage allows; null if it allows none.
  const allowed = canOffer ? "offer" : canReport ? "progress" : null;
  const [opened, setOpened] = useState<"offer" | "progress" | null>(() =>
    allowed && hasMessageDraft(allowed, messageId) ? allowed : null,
  );
  const busy = useIsCommissionBusy(messageId);
  /** The props of the button that opens and closes a form. */
  const toggle = (form: "offer" | "progress") => ({
    "aria-expanded": opened === form,
    loading: busy && opened === form, // the form stays open until the server has its text
    onClick: () => setOpened(opened === form ? null : form),
  });
  const close = () => setOpened(null);
  return (
    <div className="mt-4">
      {canOffer && (
        <Button variant="outline" size="sm" {...toggle("offer")}>
          {t("commission.makeOffer")}
        </Button>
      )}
      {canReport && (
        <Button variant="outline" size="sm" {...toggle("progress")}>
          {t("commission.writeProgress")}
        </Button>
      )}
      {canOffer && opened === "offer" && (
        <CommissionOfferForm messageId={messageId} terms={state.terms} onSent={close} />
      )}
      {canReport && opened === "progress" && (
        <CommissionProgressForm messageId={messageId} onSent={close} />
      )}
    </div>
  );
}
