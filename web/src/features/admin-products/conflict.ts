import type { Difference } from "@/components/ui/conflict-dialog";
import type { Conflict } from "@/features/admin-products/hooks/use-save-product";
import type { ProductPayload } from "@/features/admin-products/schema";
import type { Translate } from "@/lib/i18n";
import { differing } from "@/lib/save-seen";
import type { Key } from "@/lib/texts";

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
} satisfies Partial<Record<keyof ProductPayload, Key>>;

const fields = Object.keys(labels) as (keyof typeof labels)[];

/** What differs between the stored work and the one that was to be saved, as a person reads it. */
export function conflictDifferences({ newer, mine }: Conflict, t: Translate): Difference[] {
  return differing<ProductPayload>(newer, mine, fields).map((name) => {
    const field = name as keyof typeof labels;
    return {
      label: t(labels[field]),
      theirs: shown(newer[field], field, t),
      mine: shown(mine[field], field, t),
    };
  });
}

function shown(
  value: ProductPayload[keyof typeof labels],
  field: keyof typeof labels,
  t: Translate,
): string {
  if (typeof value === "boolean") return t(value ? "common.yes" : "common.no");
  if (field === "tags" && Array.isArray(value)) return value.join(", ");
  // Names of files say nothing to anybody; how many there are does.
  if (Array.isArray(value)) return t("conflict.files", { n: value.length });
  if (field === "image_url") return value ? t("conflict.anImage") : "";
  if (field === "artwork_type" && value)
    return t(`type.${value as ProductPayload["artwork_type"]}`);
  return value ?? "";
}
