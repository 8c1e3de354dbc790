import { ClientReviewCard } from "@/components/client-review/client-review-card";
import { useClientReview, useWaitingReviews } from "@/lib/client-review";
import { useT } from "@/lib/i18n";

/** Lists the clients' reviews that wait for the owner's approval. Renders nothing if there are none. */
export function WaitingReviews() {
  const t = useT();
  const { data: messageIds } = useWaitingReviews();
  if (!messageIds || messageIds.length === 0) return null;
  return (
    <section aria-labelledby="waiting-reviews" className="mb-10">
      <h2 id="waiting-reviews" className="text-[1.75rem] leading-[1.1] font-[330]">
        {t("clientReview.waiting")}
      </h2>
      <ul className="border-line mt-4 grid max-w-[40rem] border-b">
        {messageIds.map((messageId) => (
          <li key={messageId} className="border-line border-t py-5">
            <WaitingReview messageId={messageId} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The review of the commission (ordered work) for which the client has sent this message. Renders nothing until the review has loaded. */
function WaitingReview({ messageId }: { messageId: string }) {
  const { data: review } = useClientReview(messageId);
  return review?.text ? <ClientReviewCard messageId={messageId} review={review} /> : null;
}
