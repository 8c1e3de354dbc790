import { useState } from "react";
import { ClientReviewForm } from "@/components/client-review/client-review-form";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { useClientReviewAction, type ReviewDecision } from "@/lib/client-review";
import { useConversationPicture } from "@/lib/conversation-picture";
import { errorToast } from "@/lib/error-toast";
import { messageOf } from "@/lib/errors";
import { useLanguage, useT } from "@/lib/i18n";
import { dateTime } from "@/lib/owner-dates";
import { stackedToast } from "@/lib/toast";
import type { ClientReview, ConversationPicture } from "@/lib/types";

/** The width in pixels in which the picture is fetched. */
const PICTURE_WIDTH = 320;

type ClientReviewCardProps = {
  /** The id of the message that has asked for the commission. It also identifies the review. */
  messageId: string;
  review: ClientReview;
};

/**
 * A review that a client has written about a commission (a work that the client has ordered). The review waits for the owner's
 * approval, or the owner has declined it. Buttons approve, edit and decline the review.
 */
export function ClientReviewCard({ messageId, review }: ClientReviewCardProps) {
  const t = useT();
  const { language } = useLanguage();
  const mutation = useClientReviewAction(messageId);
  // The review as it was when the owner began to edit it; null while the form is closed. The approval contains its `written_at`. The
  // server rejects the approval if the client has written a newer version since then.
  const [editBase, setEditBase] = useState<ClientReview | null>(null);
  // The value of the published review's column `active`: whether visitors see the review.
  const [active, setActive] = useState(true);
  const { state, name, place, text, picture, written_at } = review;

  /**
   * Sends a decision and shows a toast with the title `successTitle`, or with the error. Uses mutateAsync instead of callbacks, because
   * the decision can remove the card from the page, and React Query does not call the callbacks of an unmounted component.
   */
  async function decide(decision: ReviewDecision, successTitle: string) {
    try {
      await mutation.mutateAsync(decision);
    } catch (error) {
      errorToast(t, messageOf(error));
      return;
    }
    stackedToast({ title: successTitle });
  }
  /** Approves the review with these texts. `base` is the version of the review that the owner has read or edited. */
  const approve = (texts: { name: string; place: string; text: string }, base: ClientReview) =>
    void decide(
      { action: "approve", ...texts, active, written_at: base.written_at },
      t("clientReview.toast.approved"),
    );
  const decline = () =>
    void decide({ action: "decline", written_at }, t("clientReview.toast.declined"));

  return (
    <article aria-label={t("testimonials.dialog", { name })}>
      <p className="text-ink2 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <Badge tone={state === "waiting" ? "ochre" : "neutral"}>
          {t(state === "waiting" ? "clientReview.waiting" : "clientReview.declined")}
        </Badge>
        {written_at && dateTime(written_at, language)}
      </p>
      {editBase ? (
        <ClientReviewForm
          review={editBase}
          busy={mutation.isPending}
          onApprove={(texts) => approve(texts, editBase)}
          onCancel={() => setEditBase(null)}
        >
          <VisibleCheckbox checked={active} onChange={setActive} />
        </ClientReviewForm>
      ) : (
        <>
          <p className="mt-3 break-words whitespace-pre-line">{text}</p>
          <p className="mt-3 text-sm break-words">
            <span className="font-[570]">{name}</span>
            {place && <span className="text-ink2">, {place}</span>}
          </p>
          {picture && <ReviewPicture picture={picture} alt={t("clientReview.picture", { name })} />}
          <VisibleCheckbox checked={active} onChange={setActive} />
          <div className="mt-3 flex flex-wrap gap-2">
            <Button
              size="sm"
              loading={mutation.isPending}
              onClick={() => approve({ name, place, text }, review)}
            >
              {t("clientReview.approve")}
            </Button>
            <Button
              variant="outline"
              size="sm"
              disabled={mutation.isPending}
              onClick={() => setEditBase(review)}
            >
              {t("clientReview.edit")}
            </Button>
            {state === "waiting" && (
              <Button variant="ghost" size="sm" disabled={mutation.isPending} onClick={decline}>
                {t("clientReview.decline")}
              </Button>
            )}
          </div>
        </>
      )}
    </article>
  );
}

/** The checkbox with which the owner chooses whether visitors see the approved review. */
function VisibleCheckbox({
  checked,
  onChange,
}: {
  checked: boolean;
  onChange(checked: boolean): void;
}) {
  const t = useT();
  return (
    <label className="mt-3 flex min-h-11 items-center gap-2.5">
      <input
        type="checkbox"
        className="accent-indigo size-5 flex-none"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
      />
      {t("clientReview.visible")}
    </label>
  );
}

function ReviewPicture({ picture, alt }: { picture: ConversationPicture; alt: string }) {
  return (
    <img
      src={useConversationPicture(picture.name, PICTURE_WIDTH)}
      alt={alt}
      width={picture.width}
      height={picture.height}
      className="mt-3 h-24 w-auto max-w-full object-contain"
    />
  );
}
