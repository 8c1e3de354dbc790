import type { HistoryDifference } from "@/components/history/history-dialog";
import { changedFields } from "@/lib/editing/update-if-unchanged";
import type { Translate } from "@/lib/i18n";
import type { Review } from "@/lib/types";

/** Returns the fields in which an earlier version of a review differs from the current one, with both values as texts. */
export function historyDifferences(before: Review, now: Review, t: Translate): HistoryDifference[] {
  const labels = {
    client_name: t("reviews.clientName"),
    location: t("reviews.location"),
    message: t("reviews.message"),
    message_pt: t("form.inPortuguese", { label: t("reviews.message") }),
    image_url: t("reviews.avatar"),
    is_active: t("history.visible"),
  };
  const fields = Object.keys(labels) as (keyof typeof labels)[];
  return changedFields<Pick<Review, keyof typeof labels>>(before, now, fields).map((field) => {
    const textOf = (review: Review) => {
      if (field === "is_active") return t(review.is_active ? "common.yes" : "common.no");
      if (field === "image_url") return review.image_url ? t("conflict.anImage") : "";
      return review[field] ?? "";
    };
    return { label: labels[field], before: textOf(before), now: textOf(now) };
  });
}
