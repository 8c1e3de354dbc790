import { lazyWithPreload } from "@/lib/lazy-with-preload";

/**
 * The component NoscriptArtwork in the server's bundle. In the browsers' bundle it is null, so that
 * visitors do not download its code.
 */
export const NoscriptArtwork = import.meta.env.SSR
  ? lazyWithPreload(() =>
      import("@/features/artworks/components/noscript-artwork").then((m) => m.NoscriptArtwork),
    )
  : null;
