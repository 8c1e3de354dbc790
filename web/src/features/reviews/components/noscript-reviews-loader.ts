import { lazyWithPreload } from "@/lib/lazy-with-preload";

/**
 * The component NoscriptReviews in the server's bundle. In the browsers' bundle it is null, so that
 * visitors do not download its code.
 */
export const NoscriptReviews = import.meta.env.SSR
  ? lazyWithPreload(() =>
      import("@/features/reviews/components/noscript-reviews").then((m) => m.NoscriptReviews),
    )
  : null;
