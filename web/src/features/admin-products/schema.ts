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

export type ProductPayload = Omit<Product, "id" | "created_at" | "media">;

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
