import { Suspense, useState } from "react";
import { part } from "@/lib/part";
import { loadTexts } from "@/lib/texts";
import type { Product } from "@/lib/types";

const ArtworkDialog = part(async () => {
  const [{ ArtworkDialog: component }] = await Promise.all([
    import("@/features/artworks/components/artwork-dialog"),
    loadTexts("work"),
  ]);
  return component;
});

type ArtworkDialogLoaderProps = {
  product: Product | null;
  onClose(): void;
  onAsk(product: Product): void;
};

/** Fetches the dialog's code with the first work that is opened, and keeps the last one while it fades. */
export function ArtworkDialogLoader({ product, onClose, onAsk }: ArtworkDialogLoaderProps) {
  const [last, setLast] = useState(product);
  if (product && product !== last) setLast(product);
  const shown = product ?? last;
  if (!shown) return null;
  return (
    <Suspense>
      <ArtworkDialog product={shown} open={product !== null} onClose={onClose} onAsk={onAsk} />
    </Suspense>
  );
}
