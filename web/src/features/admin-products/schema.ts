import * as z from "zod/mini";
import { ARTWORK_TYPES, PRODUCT_IN_STOCK_DEFAULT, PRODUCT_PRICE } from "@/lib/constants";
import {
  canSchedule,
  publishedAt,
  VISIBILITIES,
  visibilityValues,
} from "@/features/admin-products/visibility";
import type { PendingFile } from "@/lib/upload/upload-queue";
import type { AltTexts, ArtworkType, Product } from "@/lib/types";

// Validates the form of a work (a row of products), and converts between the row, the form's values and the columns to save. A new field
// needs an entry in `fields`, formValues and productPayload, and in `labels` of differences.ts.

const fields = z.object({
  // The second argument of minLength is the error message, a text key.
  title: z.string().check(z.trim(), z.minLength(1, "products.titleRequired")),
  description: z.string(),
  artwork_type: z.enum(ARTWORK_TYPES),
  dimensions: z.string(),
  medium: z.string(),
  creation_date: z.string(),
  tags: z.string(), // separated by commas
  is_featured: z.boolean(),
  in_stock: z.boolean(),
  is_customizable: z.boolean(),
  seo_meta_title: z.string(),
  seo_meta_desc: z.string(),
  title_pt: z.string(),
  description_pt: z.string(),
  dimensions_pt: z.string(),
  medium_pt: z.string(),
  seo_meta_title_pt: z.string(),
  seo_meta_desc_pt: z.string(),
  /** The alternative texts (what each picture shows, in words) as JSON, by the URL of the picture. */
  alt_texts: z.string(),
  visibility: z.enum(VISIBILITIES),
  /** When a scheduled work is published, in the browser's time zone. "" if no time is set. */
  publish_at: z.string(),
});

/** Validates the values of the form. The files of the work are not among these values: they are in upload queues. */
export const productSchema = fields.check(
  z.refine(({ visibility, publish_at }) => visibility !== "scheduled" || canSchedule(publish_at), {
    path: ["publish_at"],
    error: "products.publishAtRequired",
  }),
);

/** The values of the form of a work. */
export type ProductValues = z.infer<typeof productSchema>;

/** The URLs of a work's files. */
export type ProductMedia = Pick<Product, "image_url" | "image_gallery" | "video_gallery">;

/** The columns that the form saves. */
export type ProductPayload = Omit<
  Product,
  "id" | "created_at" | "updated_at" | "is_published" | "media"
>;

/** The state of the form. The form starts with such a state, and a draft (unsaved values in the browser) stores one. */
export type ProductFormState = {
  /** The version of the row that the changes are based on. Null for a new work. */
  product: Product | null;
  /** The id that a new work gets, so that saving it again adds no second work. A draft has it, and a form without one chooses it. */
  newId?: string;
  values: ProductValues;
  media: ProductMedia;
  /** URLs of the files that were uploaded before the draft was stored. It is possible that no row refers to them. */
  uploaded: readonly string[];
  /** For a duplicate of a work: the URLs of the original work's files, which are copied on saving. Empty for other works. */
  borrowed: readonly string[];
  /** Files that were not uploaded when the draft was stored, by field. */
  pending?: Record<keyof ProductMedia, readonly PendingFile[]>;
  /** Whether the state has changes that are not saved. */
  unsaved: boolean;
};

/** The URLs of a work's files, without its other fields; empty for null. */
export function mediaOf(product: ProductMedia | null): ProductMedia {
  return {
    image_url: product?.image_url ?? null,
    image_gallery: product?.image_gallery ?? [],
    video_gallery: product?.video_gallery ?? [],
  };
}

/** All URLs of a work's files in one list. */
export function urlsOf(media: ProductMedia): string[] {
  return [media.image_url, ...media.image_gallery, ...media.video_gallery].filter(
    (url) => url !== null,
  );
}

/** The initial state of the form of a work. For a new work, `product` is null, and `type` is the type chosen at first. */
export function initialFormState(product: Product | null, type?: ArtworkType): ProductFormState {
  return {
    product,
    values: formValues(product, type),
    media: mediaOf(product),
    uploaded: [],
    borrowed: [],
    unsaved: false,
  };
}

/** The initial state of the form of a duplicate of a work. The duplicate has another title and is not featured. */
export function formStateOfCopy(product: Product, title: string, titlePt = ""): ProductFormState {
  const media = mediaOf(product);
  return {
    ...initialFormState(null),
    values: { ...formValues(product), title, title_pt: titlePt, is_featured: false },
    media,
    borrowed: urlsOf(media),
  };
}

/** The form values of a work. For a new work, `product` is null, and `type` is its type. */
export function formValues(
  product: Product | null,
  type: ArtworkType = ARTWORK_TYPES[0]!,
): ProductValues {
  return {
    title: product?.title ?? "",
    description: product?.description ?? "",
    artwork_type: product?.artwork_type ?? type,
    dimensions: product?.dimensions ?? "",
    medium: product?.medium ?? "",
    creation_date: product?.creation_date?.slice(0, 10) ?? "",
    tags: (product?.tags ?? []).join(", "),
    is_featured: product?.is_featured ?? false,
    in_stock: product?.in_stock ?? PRODUCT_IN_STOCK_DEFAULT,
    is_customizable: product?.is_customizable ?? false,
    seo_meta_title: product?.seo_meta_title ?? "",
    seo_meta_desc: product?.seo_meta_desc ?? "",
    title_pt: product?.title_pt ?? "",
    description_pt: product?.description_pt ?? "",
    dimensions_pt: product?.dimensions_pt ?? "",
    medium_pt: product?.medium_pt ?? "",
    seo_meta_title_pt: product?.seo_meta_title_pt ?? "",
    seo_meta_desc_pt: product?.seo_meta_desc_pt ?? "",
    alt_texts: JSON.stringify(product?.alt_texts ?? {}),
    ...visibilityValues(product),
  };
}

/** Splits a list at commas; removes empty and repeated tags. */
export function parseTags(text: string): string[] {
  const tags = text.split(",").map((tag) => tag.trim());
  return [...new Set(tags.filter(Boolean))];
}

const orNull = (text: string) => text.trim() || null;

/** The alternative texts of a work's pictures, trimmed and without empty ones, as the server stores them; null for none. */
export function altTextsOf(
  texts: AltTexts,
  { image_url, image_gallery }: ProductMedia,
): AltTexts | null {
  const kept: AltTexts = {};
  for (const url of [image_url, ...image_gallery]) {
    const own = url === null ? undefined : texts[url];
    const [en, pt] = [own?.en?.trim(), own?.pt?.trim()];
    if (url !== null && (en || pt)) kept[url] = { ...(en && { en }), ...(pt && { pt }) };
  }
  return Object.keys(kept).length > 0 ? kept : null;
}

/**
 * The row to save for the form's values and files. Texts are trimmed, and empty ones become null. `base` is the stored row; null
 * for a new work.
 */
export function productPayload(
  values: ProductValues,
  media: ProductMedia,
  base: Product | null = null,
): ProductPayload {
  return {
    title: values.title.trim(),
    description: orNull(values.description),
    artwork_type: values.artwork_type,
    image_url: media.image_url,
    image_gallery: media.image_gallery,
    video_gallery: media.video_gallery,
    is_featured: values.is_featured,
    in_stock: values.in_stock,
    dimensions: orNull(values.dimensions),
    medium: orNull(values.medium),
    creation_date: orNull(values.creation_date),
    tags: parseTags(values.tags),
    is_customizable: values.is_customizable,
    seo_meta_title: orNull(values.seo_meta_title),
    seo_meta_desc: orNull(values.seo_meta_desc),
    title_pt: orNull(values.title_pt),
    description_pt: orNull(values.description_pt),
    dimensions_pt: orNull(values.dimensions_pt),
    medium_pt: orNull(values.medium_pt),
    seo_meta_title_pt: orNull(values.seo_meta_title_pt),
    seo_meta_desc_pt: orNull(values.seo_meta_desc_pt),
    alt_texts: altTextsOf(JSON.parse(values.alt_texts) as AltTexts, media),
    price: PRODUCT_PRICE,
    published_at: publishedAt(values, base),
  };
}
