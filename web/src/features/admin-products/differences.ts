import type { Difference } from "@/components/ui/conflict-dialog";
import type { HistoryDifference } from "@/components/history/history-dialog";
import type { ProductPayload } from "@/features/admin-products/schema";
import { visibilityOf } from "@/features/admin-products/visibility";
import type { Translate } from "@/lib/i18n";
import { changedFields } from "@/lib/editing/update-if-unchanged";
import { clockTime, localDay } from "@/lib/owner-dates";
import type { TextKey } from "@/lib/texts";
import type { AltTexts } from "@/lib/types";

// Lists the fields in which two versions of a work (a row of products) differ, for the conflict dialog and the history. A new column of
// works needs an entry in `labels`. A new pair of columns, such as title and title_pt, also needs an entry in BILINGUAL.

/** The compared fields of a work with the text keys of their labels. The fields of BILINGUAL with the suffix _pt are compared too. */
const labels = {
  title: "products.title",
  description: "products.description",
  artwork_type: "products.type",
  image_url: "products.mainImage",
  image_gallery: "products.galleryImages",
  video_gallery: "products.galleryVideos",
  is_featured: "products.featured",
  in_stock: "products.inStock",
  dimensions: "gallery.dimensions",
  medium: "gallery.medium",
  creation_date: "gallery.creationDate",
  tags: "products.tags",
  is_customizable: "products.customizable",
  seo_meta_title: "products.seoTitle",
  seo_meta_desc: "products.seoDesc",
  published_at: "products.visibility",
  alt_texts: "products.altTexts",
} satisfies Partial<Record<keyof ProductPayload, TextKey>>;

/** The fields whose text in Portuguese is in a second field, such as title_pt for title. */
const BILINGUAL = [
  "title",
  "description",
  "dimensions",
  "medium",
  "seo_meta_title",
  "seo_meta_desc",
] as const;

type ComparedField = keyof typeof labels | `${(typeof BILINGUAL)[number]}_pt`;
const fields = [
  ...Object.keys(labels),
  ...BILINGUAL.map((name) => `${name}_pt`),
] as ComparedField[];

function labelOf(field: ComparedField, t: Translate): string {
  if (field in labels) return t(labels[field as keyof typeof labels]);
  const label = t(labels[field.replace(/_pt$/, "") as keyof typeof labels]);
  return t("form.inPortuguese", { label });
}

/** Returns the fields in which the stored work (`newer`) and the work to be saved (`mine`) differ, with both values as texts. */
export function conflictDifferences(
  { newer, mine }: Record<"newer" | "mine", ProductPayload>,
  t: Translate,
): Difference[] {
  const differences = changedFields<ProductPayload>(newer, mine, fields).map((name) => {
    const field = name as ComparedField;
    return {
      label: labelOf(field, t),
      theirs: textOf(newer[field], field, t),
      mine: textOf(mine[field], field, t),
    };
  });
  // Different values of these two fields can have equal texts, such as "published" for two times in the past. For the owner they are
  // no difference.
  const lossyLabels = [t(labels.published_at), t(labels.alt_texts)];
  return differences.filter(
    ({ label, theirs, mine: own }) => theirs !== own || !lossyLabels.includes(label),
  );
}

/** The fields in which an earlier version of a work differs from the current one, with texts of both values. */
export const historyDifferences = (
  before: ProductPayload,
  now: ProductPayload,
  t: Translate,
): HistoryDifference[] =>
  conflictDifferences({ newer: before, mine: now }, t).map(({ label, theirs, mine }) => ({
    label,
    before: theirs,
    now: mine,
  }));

/** The text of a field's value. */
function textOf(value: ProductPayload[ComparedField], field: ComparedField, t: Translate): string {
  if (field === "published_at") return visibilityText(value as ProductPayload["published_at"], t);
  if (typeof value === "boolean") return t(value ? "common.yes" : "common.no");
  if (field === "tags" && Array.isArray(value)) return value.join(", ");
  // Files have random names, so only their number is shown.
  if (Array.isArray(value)) return t("conflict.files", { n: value.length });
  if (field === "image_url") return value ? t("conflict.anImage") : "";
  if (field === "artwork_type" && value)
    return t(`type.${value as ProductPayload["artwork_type"]}`);
  if (field === "alt_texts") return altTextsText(value);
  return (value as string | null | undefined) ?? "";
}

/** All alternative texts in one text. A revision has them as the text of a JSON object. */
function altTextsText(stored: ProductPayload["alt_texts"] | string): string {
  const texts = typeof stored === "string" ? (JSON.parse(stored) as AltTexts) : (stored ?? {});
  return Object.values(texts)
    .flatMap(({ en, pt }) => [en, pt])
    .filter(Boolean)
    .join(" · ");
}

/** The visibility as a text: "Published", "Draft", or the time for which the work is scheduled. "now" (SERVER_TIME) is published. */
function visibilityText(published_at: string | null | undefined, t: Translate): string {
  const visibility = visibilityOf({ published_at });
  return visibility === "scheduled"
    ? t("products.scheduledFor", { when: `${localDay(published_at!)} ${clockTime(published_at!)}` })
    : t(`products.${visibility}`);
}
