import type { HistoryDifference } from "@/components/history/history-dialog";
import { changedFields } from "@/lib/editing/update-if-unchanged";
import type { Translate } from "@/lib/i18n";
import type { Review } from "@/lib/types";

/**
 * Returns the fields in which an earlier version of a review (what a client said) differs from the current one, with both values
 * as texts. The history dialog lists them.
 */
export function historyDifferences(
  earlier: Review,
  current: Review,
  t: Translate,
): HistoryDifference[] {
  const labels = {
    client_name: t("reviews.clientName"),
    location: t("reviews.location"),
    message: t("reviews.message"),
    message_pt: t("form.inPortuguese", { label: t("reviews.message") }),
    image_url: t("reviews.avatar"),
    is_active: t("history.visible"),
  };
  const fields = Object.keys(labels) as (keyof typeof labels)[];
  type ComparedFields = Pick<Review, keyof typeof labels>;
  return changedFields<ComparedFields>(earlier, current, fields).map((field) => {
    const textOf = (review: Review) => {
      if (field === "is_active") return t(review.is_active ? "common.yes" : "common.no");
      // The URL of a file tells the owner nothing, so the text is only "An image".
      if (field === "image_url") return review.image_url ? t("conflict.anImage") : "";
      return review[field] ?? "";
    };
    return { label: labels[field], before: textOf(earlier), now: textOf(current) };
  });
}
