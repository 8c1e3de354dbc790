import { ClientReviewCard } from "@/components/client-review/client-review-card";
import { Button } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import { useClientReview, useClientReviewAction } from "@/lib/client-review";
import { errorToast } from "@/lib/error-toast";
import { messageOf } from "@/lib/errors";
import { useLanguage, useT } from "@/lib/i18n";
import { dateTime } from "@/lib/owner-dates";
import { stackedToast } from "@/lib/toast";
import type { ClientReview } from "@/lib/types";

type ClientReviewPanelProps = {
  messageId: string;
  /** Whether the commission is finished. */
  finished: boolean;
};

/**
 * The review that a client writes about a finished commission. In this panel the owner requests the review, withdraws the request,
 * and approves or declines what the client has written.
 */
export function ClientReviewPanel({ messageId, finished }: ClientReviewPanelProps) {
  const t = useT();
  const { data: review } = useClientReview(messageId);
  const action = useClientReviewAction(messageId);
  // The state is "" if no review was ever requested. A review can be requested only when the commission is finished.
  if (!review || (!finished && review.state === "")) return null;

  const fail = (error: unknown) => errorToast(t, messageOf(error));
  const ask = () =>
    void action
      .mutateAsync({ action: "ask" })
      .then(() => stackedToast({ title: t("clientReview.toast.asked") }), fail);
  const canBeApproved =
    review.text !== "" && (review.state === "waiting" || review.state === "declined");
  const withdraw = () => void action.mutateAsync({ action: "withdraw" }).catch(fail);

  return (
    <section aria-labelledby={`review-of-${messageId}`} className="border-line mt-6 border-t pt-4">
      <h3 id={`review-of-${messageId}`} className="label-text">
        {t("clientReview.title")}
      </h3>
      <State review={review} />
      {canBeApproved && (
        <div className="mt-3">
          <ClientReviewCard messageId={messageId} review={review} />
        </div>
      )}
      <div className="mt-3 flex flex-wrap gap-2">
        {review.can_ask && (
          <Button variant="outline" size="sm" loading={action.isPending} onClick={ask}>
            {t(review.asked_at ? "clientReview.askAgain" : "clientReview.ask")}
          </Button>
        )}
        {review.state === "asked" && (
          <Button variant="ghost" size="sm" disabled={action.isPending} onClick={withdraw}>
            {t("clientReview.withdraw")}
          </Button>
        )}
        {review.state === "approved" && (
          <Link to="/admin/reviews" className="text-link inline-flex min-h-11 items-center">
            {t("clientReview.toReviews")}
          </Link>
        )}
      </div>
    </section>
  );
}

/** Says what became of the request for a review. */
function State({ review }: { review: ClientReview }) {
  const t = useT();
  const { language } = useLanguage();
  const at = (time: string | null) => (time ? dateTime(time, language) : "");
  const texts = [
    review.state === "" && t("clientReview.hint"),
    review.state === "asked" &&
      t(review.text === "" ? "clientReview.asked" : "clientReview.askedAgain", {
        when: at(review.asked_at),
      }),
    review.state === "withdrawn" && t("clientReview.withdrawn"),
    review.state === "approved" && t("clientReview.approved", { when: at(review.decided_at) }),
    review.ask_again_at && t("clientReview.askAgainAt", { when: at(review.ask_again_at) }),
  ].filter(Boolean);
  if (texts.length === 0) return null;
  return <p className="text-ink2 mt-1 text-sm">{texts.join(" ")}</p>;
}
