import { lazyWithPreload } from "@/lib/lazy-with-preload";

/**
 * The component NoscriptArtwork in the server's bundle; null in the browsers' bundle, which so
 * leaves its code out.
 */
export const NoscriptArtwork = import.meta.env.SSR
  ? lazyWithPreload(() =>
      import("@/features/artworks/components/noscript-artwork").then((m) => m.NoscriptArtwork),
    )
  : null;
