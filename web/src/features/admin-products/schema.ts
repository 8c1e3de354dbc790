import * as z from "zod/mini";
import { ARTWORK_TYPES, PRODUCT_IN_STOCK_DEFAULT, PRODUCT_PRICE } from "@/lib/constants";
import type { Product } from "@/lib/types";

/** What the form's fields hold; the media lists live beside it in their upload queues. */
export const productSchema = z.object({
  // The message is a text key: the form shows it in the language of the moment.
  title: z.string().check(z.trim(), z.minLength(1, "products.titleRequired")),
  description: z.string(),
  artwork_type: z.enum(ARTWORK_TYPES),
  dimensions: z.string(),
  medium: z.string(),
  creation_date: z.string(),
  tags: z.string(),
  is_featured: z.boolean(),
  in_stock: z.boolean(),
  is_customizable: z.boolean(),
  seo_meta_title: z.string(),
  seo_meta_desc: z.string(),
});

export type ProductValues = z.infer<typeof productSchema>;

export type ProductMedia = Pick<Product, "image_url" | "image_gallery" | "video_gallery">;

export type ProductPayload = Omit<Product, "id" | "created_at" | "updated_at" | "media">;

/** How a form opens, and what is kept of it when it goes away unsaved. */
export type ProductStart = {
  /** The row as it was seen; null for a work that does not exist yet. */
  product: Product | null;
  values: ProductValues;
  media: ProductMedia;
  /** Stored by a form that went away, and perhaps shown nowhere. */
  uploaded: readonly string[];
  /** Another work's files: saving gives this one copies of its own. */
  borrowed: readonly string[];
  /** Holds something that is not saved anywhere. */
  unsaved: boolean;
};

export function mediaOf(product: ProductMedia | null): ProductMedia {
  return {
    image_url: product?.image_url ?? null,
    image_gallery: product?.image_gallery ?? [],
    video_gallery: product?.video_gallery ?? [],
  };
}

export function urlsOf(media: ProductMedia): string[] {
  return [media.image_url, ...media.image_gallery, ...media.video_gallery].filter(
    (url) => url !== null,
  );
}

export function startOf(product: Product | null): ProductStart {
  return {
    product,
    values: formValues(product),
    media: mediaOf(product),
    uploaded: [],
    borrowed: [],
    unsaved: false,
  };
}

/** A new work filled from another one. It is not featured by itself: the home page shows what the owner chose. */
export function startOfCopy(product: Product, title: string): ProductStart {
  const media = mediaOf(product);
  return {
    ...startOf(null),
    values: { ...formValues(product), title, is_featured: false },
    media,
    borrowed: urlsOf(media),
  };
}

export function formValues(product: Product | null): ProductValues {
  return {
    title: product?.title ?? "",
    description: product?.description ?? "",
    artwork_type: product?.artwork_type ?? "digital",
    dimensions: product?.dimensions ?? "",
    medium: product?.medium ?? "",
    creation_date: product?.creation_date?.slice(0, 10) ?? "",
    tags: (product?.tags ?? []).join(", "),
    is_featured: product?.is_featured ?? false,
    in_stock: product?.in_stock ?? PRODUCT_IN_STOCK_DEFAULT,
    is_customizable: product?.is_customizable ?? false,
    seo_meta_title: product?.seo_meta_title ?? "",
    seo_meta_desc: product?.seo_meta_desc ?? "",
  };
}

export function parseTags(text: string): string[] {
  const tags = text.split(",").map((tag) => tag.trim());
  return [...new Set(tags.filter(Boolean))];
}

const orNull = (text: string) => text.trim() || null;

export function productPayload(values: ProductValues, media: ProductMedia): ProductPayload {
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
    price: PRODUCT_PRICE,
  };
}
