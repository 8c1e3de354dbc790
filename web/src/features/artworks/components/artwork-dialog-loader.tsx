import { Suspense, useState } from "react";
import { lazyWithPreload } from "@/lib/lazy-with-preload";
import type { Product } from "@/lib/types";

const ArtworkDialog = lazyWithPreload(() =>
  import("@/features/artworks/components/artwork-dialog").then((m) => m.ArtworkDialog),
);

type ArtworkDialogLoaderProps = {
  product: Product | null;
  onClose(): void;
  onEnquire(product: Product): void;
};

/**
 * Renders the artwork dialog, whose code loads when the first work is opened. The last work stays in the dialog while it
 * fades out.
 */
export function ArtworkDialogLoader({ product, onClose, onEnquire }: ArtworkDialogLoaderProps) {
  const [last, setLast] = useState(product);
  if (product && product !== last) setLast(product);
  const shown = product ?? last;
  if (!shown) return null;
  return (
    <Suspense>
      <ArtworkDialog
        product={shown}
        open={product !== null}
        onClose={onClose}
        onEnquire={onEnquire}
      />
    </Suspense>
  );
}
