import { Suspense, useState } from "react";
import { lazyWithPreload } from "@/lib/lazy-with-preload";
import type { Product } from "@/lib/types";

const ArtworkDialog = lazyWithPreload(() =>
  import("@/features/artworks/components/artwork-dialog").then((m) => m.ArtworkDialog),
);

type ArtworkDialogLoaderProps = {
  /** The work to show; null closes the dialog. */
  product: Product | null;
  onClose(): void;
  /** Called when the visitor wants to ask about the work. */
  onEnquire(product: Product): void;
};

/**
 * Renders the artwork dialog. The dialog's code loads when the first work is opened. After closing, the dialog still shows
 * its work while it fades out.
 */
export function ArtworkDialogLoader({ product, onClose, onEnquire }: ArtworkDialogLoaderProps) {
  const [latestProduct, setLatestProduct] = useState(product);
  if (product && product !== latestProduct) setLatestProduct(product);
  const shownProduct = product ?? latestProduct;
  if (!shownProduct) return null;
  return (
    <Suspense>
      <ArtworkDialog
        product={shownProduct}
        open={product !== null}
        onClose={onClose}
        onEnquire={onEnquire}
      />
    </Suspense>
  );
}
