import { lazyWithPreload } from "@/lib/lazy-with-preload";

/**
 * The component NoscriptReviews in the server's bundle; null in the browsers' bundle, which so
 * leaves its code out.
 */
export const NoscriptReviews = import.meta.env.SSR
  ? lazyWithPreload(() =>
      import("@/features/reviews/components/noscript-reviews").then((m) => m.NoscriptReviews),
    )
  : null;
