import { useState, type FormEvent } from "react";
import { useCommission, useCommissionAction } from "@/features/admin-messages/api/commission";
import { CommissionOfferRow } from "@/features/admin-messages/components/commission-offer-row";
import { ClientReviewPanel } from "@/features/admin-messages/components/client-review-panel";
import { CommissionForms } from "@/features/admin-messages/components/commission-forms";
import { DateField } from "@/components/form/date-field";
import { SelectField } from "@/components/form/select-field";
import { Button } from "@/components/ui/button";
import { errorToast } from "@/lib/error-toast";
import { messageOf } from "@/lib/errors";
import { useLanguage, useT } from "@/lib/i18n";
import { dateTime } from "@/lib/owner-dates";
import type { CommissionStage, CommissionState, ContactSubmission } from "@/lib/types";

/** The stages in which the visitor has accepted an offer. */
const AGREED: readonly CommissionStage[] = ["accepted", "in_progress", "finished"];

/**
 * The panel about the commission (a work that a visitor orders) in an opened message. The owner sees and changes its stage (how far it
 * is), promised date and offers. The panel is expanded at first if the message has a commission or asks for one.
 */
export function CommissionPanel({ message }: { message: ContactSubmission }) {
  const t = useT();
  const { data } = useCommission(message.id);
  if (!data) return null;
  // `stage_at` is null as long as nothing was decided about a commission.
  return (
    <details
      open={message.reason === "commission" || data.stage_at !== null}
      className="border-line mt-8 max-w-[40rem] border-t pt-4"
    >
      <summary className="label-text cursor-pointer py-2">{t("commission.title")}</summary>
      <Stage messageId={message.id} state={data} />
      {AGREED.includes(data.stage) && (
        <PromisedDate key={data.promised_on} messageId={message.id} promised={data.promised_on} />
      )}
      <Slots state={data} />
      {data.offers.length > 0 && (
        <ol aria-label={t("commission.offers")} className="border-line mt-6 border-b">
          {data.offers.map((offer) => (
            <CommissionOfferRow key={offer.id} messageId={message.id} offer={offer} />
          ))}
        </ol>
      )}
      <CommissionForms messageId={message.id} state={data} />
      {data.stage_at !== null && (
        <ClientReviewPanel messageId={message.id} finished={data.stage === "finished"} />
      )}
    </details>
  );
}

/** The props of Stage. */
type StateProps = { messageId: string; state: CommissionState };

/** The field that shows and changes the stage, and the place on the waiting list. */
function Stage({ messageId, state }: StateProps) {
  const t = useT();
  const { language } = useLanguage();
  const action = useCommissionAction(messageId);
  const { stage, stage_at: since, next, place } = state;

  function move(chosen: string) {
    const to = [stage, ...next].find((known) => known === chosen);
    if (!to) return;
    action
      .mutateAsync({ action: "stage", stage: to, from: stage })
      .catch((error: unknown) => errorToast(t, messageOf(error)));
  }

  return (
    <>
      <SelectField
        label={t("commission.stage")}
        hint={since ? t("commission.since", { when: dateTime(since, language) }) : undefined}
        className="mt-2 max-w-[20em]"
        value={since ? stage : ""}
        disabled={action.isPending}
        onChange={(event) => move(event.target.value)}
      >
        {!since && <option value="">{t("commission.undecided")}</option>}
        {[stage, ...next].map((choice) => (
          <option key={choice} value={choice}>
            {t(`commission.stage.${choice}`)}
          </option>
        ))}
      </SelectField>
      {place > 0 && <p className="mt-2">{t("commission.place", { n: place })}</p>}
    </>
  );
}

function PromisedDate({ messageId, promised }: { messageId: string; promised: string }) {
  const t = useT();
  const action = useCommissionAction(messageId);
  const [day, setDay] = useState(promised);

  function save(event: FormEvent) {
    event.preventDefault();
    action
      .mutateAsync({ action: "promise", promised_on: day })
      .catch((error: unknown) => errorToast(t, messageOf(error)));
  }

  return (
    <form onSubmit={save} className="mt-4 flex flex-wrap items-end gap-3">
      <DateField
        label={t("commission.promised")}
        value={day}
        onChange={(event) => setDay(event.target.value)}
      />
      {day !== promised && (
        <Button type="submit" variant="outline" loading={action.isPending}>
          {t("commission.savePromised")}
        </Button>
      )}
    </form>
  );
}

/** How many slots are taken, and what follows from it. */
function Slots({ state: { slots, taken, stage } }: { state: CommissionState }) {
  const t = useT();
  if (slots === 0) return null;
  return (
    <p className="text-ink2 mt-4 text-sm">
      {t("commission.slots", { taken, slots })}
      {taken > slots && ` ${t("commission.overSlots")}`}
      {taken >= slots && !AGREED.includes(stage) && ` ${t("commission.noSlot")}`}
    </p>
  );
}
