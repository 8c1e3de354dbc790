import { useCommissionAction } from "@/features/admin-messages/api/commission";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { longDate } from "@/lib/dates";
import { errorToast } from "@/lib/error-toast";
import { messageOf } from "@/lib/errors";
import { useLanguage, useT } from "@/lib/i18n";
import { dateTime } from "@/lib/owner-dates";
import type { CommissionOffer } from "@/lib/types";

/** The colours of the badge that shows the state of an offer. */
const tones = {
  open: "ochre",
  accepted: "green",
  declined: "neutral",
  expired: "neutral",
  withdrawn: "neutral",
} as const;

/**
 * A row in the list of the offers of a commission: the offer (what the owner would do for which price) and its state. The owner can
 * withdraw an offer that the visitor has not answered.
 */
export function CommissionOfferRow({
  messageId,
  offer,
}: {
  messageId: string;
  offer: CommissionOffer;
}) {
  const t = useT();
  const { language } = useLanguage();
  const action = useCommissionAction(messageId);
  const facts = [
    offer.price,
    offer.deposit && t("commission.depositOf", { deposit: offer.deposit }),
    offer.promised_on && t("commission.finishedBy", { day: longDate(offer.promised_on, language) }),
    offer.expires_on && t("commission.validUntil", { day: longDate(offer.expires_on, language) }),
  ];

  function withdraw() {
    action
      .mutateAsync({ action: "withdraw", id: offer.id })
      .catch((error: unknown) => errorToast(t, messageOf(error)));
  }

  return (
    <li className="border-line border-t py-4">
      <p className="text-ink2 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        {t("commission.offerOf", { when: dateTime(offer.created_at, language) })}
        <Badge tone={tones[offer.state]}>{t(`commission.offer.${offer.state}`)}</Badge>
      </p>
      <p className="mt-1 break-words">{facts.filter(Boolean).join(" · ")}</p>
      <p className="mt-1 break-words whitespace-pre-line">{offer.text}</p>
      {offer.answered_at && (
        <p className="mt-1 text-sm break-words">
          {[offer.answered_name, dateTime(offer.answered_at, language)].filter(Boolean).join(" · ")}
        </p>
      )}
      {offer.terms && (
        <details className="mt-2 text-sm">
          <summary className="cursor-pointer py-2">{t("commission.offerTerms")}</summary>
          <p className="break-words whitespace-pre-line">{offer.terms}</p>
        </details>
      )}
      {(offer.state === "open" || offer.state === "expired") && (
        <Button
          variant="ghost"
          size="sm"
          className="mt-2 -ml-3"
          loading={action.isPending}
          onClick={withdraw}
        >
          {t("commission.withdraw")}
        </Button>
      )}
    </li>
  );
}
