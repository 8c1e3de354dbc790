import "@/styles/full.css";
import { useCarousel } from "@/components/media/carousel";
import { Button } from "@/components/ui/button";
import { DialogClose, DialogContent, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { useLanguage } from "@/lib/i18n";
import type { Product } from "@/lib/types";
import { artworkTitle } from "@/features/artworks/artwork-label";
import { artworkMedia } from "@/features/artworks/artwork-media";
import { ArtworkFacts } from "@/features/artworks/components/artwork-facts";
import { CommissionNote, useEnquiryLabel } from "@/features/artworks/components/commission-note";
import { ArtworkStage } from "@/features/artworks/components/artwork-stage";

type ArtworkDialogProps = {
  product: Product;
  open: boolean;
  onClose(): void;
  /** Called when the visitor wants to ask about the work. */
  onEnquire(product: Product): void;
};

/** Lets embla, the library of the carousel, ignore drags on a video, because such a drag seeks in the video. */
const watchDrag = (_: unknown, event: MouseEvent | TouchEvent) =>
  !(event.target instanceof Element && event.target.closest("video"));

/** The dialog of an opened work: its pictures and videos, with its details beside them, or below them on phones. */
export function ArtworkDialog({ product, open, onClose, onEnquire }: ArtworkDialogProps) {
  return (
    <DialogRoot open={open} onOpenChange={(next) => !next && onClose()}>
      <DialogContent
        overlayClassName="grid place-items-center md:p-8 lg:p-10"
        className="grid h-dvh max-w-[1280px] grid-rows-[56svh_minmax(0,1fr)] md:h-[min(820px,calc(100dvh-4rem))] md:grid-cols-[minmax(0,1fr)_clamp(300px,34vw,392px)] md:grid-rows-1"
      >
        <ArtworkView key={product.id} product={product} onEnquire={onEnquire} />
      </DialogContent>
    </DialogRoot>
  );
}

/**
 * The content of the dialog. The key handler is on the outer element, so that arrow keys change the picture wherever the
 * focus is in the dialog.
 */
function ArtworkView({ product, onEnquire }: Pick<ArtworkDialogProps, "product" | "onEnquire">) {
  const pageLanguage = useLanguage();
  const title = artworkTitle(product, pageLanguage);
  const media = artworkMedia(product, pageLanguage.language);
  const carousel = useCarousel({ loop: true, watchDrag });
  const label = useEnquiryLabel(product);

  return (
    <div
      role="presentation"
      className="contents"
      onKeyDown={media.length > 1 ? carousel.onKeyDown : undefined}
    >
      <DialogClose className="top-1 right-1 md:top-3.5 md:right-3.5" />
      {/* Moves the carousel, and renders nothing. */}
      {carousel.driver}
      <ArtworkStage media={media} carousel={carousel} title={title} />
      <div className="border-line overflow-y-auto overscroll-contain px-5 pt-7 pb-9 md:px-9 md:pt-[74px] md:dark:border-l max-md:dark:border-t">
        <DialogTitle
          lang={title.lang}
          className="text-[2.375rem] leading-[1.2] font-[350] tracking-[-0.01em] italic"
        >
          {title.text}
        </DialogTitle>
        <ArtworkFacts product={product} />
        <Button variant="outline" className="mt-8" onClick={() => onEnquire(product)}>
          {label}
        </Button>
        <CommissionNote product={product} />
      </div>
    </div>
  );
}
