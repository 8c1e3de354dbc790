import type { HistoryDifference } from "@/components/history/history-dialog";
import { timeForComparison } from "@/features/admin-covers/schedule";
import { coverKind } from "@/features/admin-covers/schema";
import { textLabels } from "@/features/admin-covers/text-labels";
import { changedFields } from "@/lib/editing/update-if-unchanged";
import type { Translate } from "@/lib/i18n";
import type { CoverImage } from "@/lib/types";

/**
 * Returns the fields in which an earlier version of a cover (a large picture or video at the top of the home page) differs from
 * the current one, with both values as texts. The history dialog lists them.
 */
export function historyDifferences(
  earlier: CoverImage,
  current: CoverImage,
  t: Translate,
): HistoryDifference[] {
  const labels = {
    image_url: t("history.file"),
    ...textLabels(t),
    is_active: t("history.visible"),
    visible_from: t("covers.visibleFrom"),
    visible_until: t("covers.visibleUntil"),
  };
  const fields = Object.keys(labels) as (keyof typeof labels)[];
  type ComparedFields = Pick<CoverImage, keyof typeof labels>;
  return changedFields<ComparedFields>(earlier, current, fields).map((field) => {
    const textOf = (cover: CoverImage) => {
      if (field === "is_active") return t(cover.is_active ? "common.yes" : "common.no");
      // The URL of a file tells the owner nothing, so the text is only the kind of the file.
      if (field === "image_url")
        return t(coverKind(cover) === "video" ? "covers.video" : "covers.image");
      if (field === "visible_from" || field === "visible_until")
        return timeForComparison(cover[field]);
      return cover[field] ?? "";
    };
    return { label: labels[field], before: textOf(earlier), now: textOf(current) };
  });
}
