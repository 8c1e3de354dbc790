import { lazyWithPreload } from "@/lib/lazy-with-preload";

/** Rendered on the server alone, and null in browsers, so that their bundle leaves its code out. */
export const NoscriptArtwork = import.meta.env.SSR
  ? lazyWithPreload(() =>
      import("@/features/artworks/components/noscript-artwork").then((m) => m.NoscriptArtwork),
    )
  : null;
