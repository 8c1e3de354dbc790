import { useState, type FormEvent } from "react";
import {
  useCommissionAction,
  useIsCommissionBusy,
  type OfferDraft,
} from "@/features/admin-messages/api/commission";
import { useMessageDraft } from "@/features/admin-messages/hooks/use-message-draft";
import { DateField } from "@/components/form/date-field";
import { TextAreaField } from "@/components/form/text-area-field";
import { TextField } from "@/components/form/text-field";
import { Button } from "@/components/ui/button";
import { CONTACT_MESSAGE_MAX } from "@/lib/constants";
import { errorToast } from "@/lib/error-toast";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";

/** Makes an empty offer with a new id. */
const newOffer = (): OfferDraft => ({
  id: crypto.randomUUID(),
  text: "",
  price: "",
  deposit: "",
  promised_on: "",
  expires_on: "",
});

type CommissionOfferFormProps = {
  messageId: string;
  /** The owner's terms of commissions. They will be part of the offer. "" if there are no terms. */
  terms: string;
  onSent(): void;
};

/**
 * The form for an offer (what the owner would do for which price). The visitor gets the offer like a reply, and accepts or declines
 * it at the private link (the URL at which the visitor follows the message).
 */
export function CommissionOfferForm({ messageId, terms, onSent }: CommissionOfferFormProps) {
  const t = useT();
  const { draft, changeDraft, clearDraft } = useMessageDraft("offer", messageId, newOffer);
  // True after the first attempt to send. Empty required fields are marked from then on.
  const [checked, setChecked] = useState(false);
  const action = useCommissionAction(messageId);
  const busy = useIsCommissionBusy(messageId);
  /** The props of the field for a part of the offer. */
  const field = (name: Exclude<keyof OfferDraft, "id">) => ({
    value: draft[name],
    readOnly: busy,
    onChange: (event: { target: { value: string } }) =>
      changeDraft({ ...draft, [name]: event.target.value }),
  });
  /** The error of an empty required field. */
  const missing = (name: "text" | "price") =>
    checked && draft[name].trim() === "" ? t("commission.required") : undefined;

  function send(event: FormEvent) {
    event.preventDefault();
    setChecked(true);
    if (draft.text.trim() === "" || draft.price.trim() === "") return;
    action.mutateAsync({ action: "offer", ...draft }, { onSuccess: onSent }).then(
      () => {
        clearDraft(draft);
        stackedToast({ title: t("commission.toast.offered") });
      },
      (error: unknown) => errorToast(t, messageOf(error)),
    );
  }

  return (
    <form onSubmit={send} noValidate className="mt-4 grid gap-4 sm:grid-cols-2">
      <TextAreaField
        label={t("commission.offerText")}
        hint={t("commission.offerHint")}
        rows={4}
        maxLength={CONTACT_MESSAGE_MAX}
        required
        error={missing("text")}
        className="sm:col-span-2"
        {...field("text")}
      />
      <TextField
        label={t("commission.price")}
        maxLength={200}
        required
        error={missing("price")}
        {...field("price")}
      />
      <TextField label={t("commission.deposit")} maxLength={200} optional {...field("deposit")} />
      <DateField label={t("commission.promised")} optional {...field("promised_on")} />
      <DateField label={t("commission.expires")} optional {...field("expires_on")} />
      <div className="text-sm sm:col-span-2">
        {terms ? (
          <details>
            <summary className="cursor-pointer py-2">{t("commission.termsSent")}</summary>
            <p className="break-words whitespace-pre-line">{terms}</p>
          </details>
        ) : (
          <p className="text-ink2">{t("commission.noTerms")}</p>
        )}
      </div>
      <div className="sm:col-span-2">
        <Button type="submit" size="sm" loading={busy}>
          {t("commission.sendOffer")}
        </Button>
      </div>
    </form>
  );
}
