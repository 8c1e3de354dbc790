import { lazyWithPreload } from "@/lib/lazy-with-preload";

/** NoscriptReviews on the server. It is null in browsers, so that their bundle leaves its code out. */
export const NoscriptReviews = import.meta.env.SSR
  ? lazyWithPreload(() =>
      import("@/features/reviews/components/noscript-reviews").then((m) => m.NoscriptReviews),
    )
  : null;
