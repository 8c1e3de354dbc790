import { Suspense, useState } from "react";
import { part } from "@/lib/part";
import type { Product } from "@/lib/types";

const ArtworkDialog = part(() =>
  import("@/features/artworks/components/artwork-dialog").then((m) => m.ArtworkDialog),
);

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
