import type { Product } from "@/lib/types";

/** A complete row of products for tests; a test sets only the values that matter to it. */
export function aProduct(values: Partial<Product> = {}): Product {
  return {
    id: "p1",
    title: "Romãs",
    description: null,
    artwork_type: "digital",
    image_url: "http://backend.test/romas.jpg",
    image_gallery: [],
    video_gallery: [],
    is_featured: false,
    in_stock: true,
    dimensions: null,
    medium: null,
    creation_date: null,
    tags: [],
    is_customizable: false,
    seo_meta_title: null,
    seo_meta_desc: null,
    price: 0,
    created_at: "2026-11-20T10:00:00Z",
    ...values,
  };
}
