import { lazyWithPreload } from "@/lib/lazy-with-preload";

/** NoscriptArtwork on the server. It is null in browsers, so that their bundle leaves its code out. */
export const NoscriptArtwork = import.meta.env.SSR
  ? lazyWithPreload(() =>
      import("@/features/artworks/components/noscript-artwork").then((m) => m.NoscriptArtwork),
    )
  : null;
