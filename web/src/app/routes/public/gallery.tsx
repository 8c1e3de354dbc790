import type { QueryClient } from "@tanstack/react-query";
import { useParams } from "react-router";
import { useStartEnquiry } from "@/app/routes/public/use-enquiry";
import { PageShell } from "@/components/layout/page-shell";
import { GalleryPage } from "@/features/artworks/components/gallery-page";
import { prefetchGallery } from "@/features/artworks/prefetch-gallery";
import { publicBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";
import { offerPortuguese } from "@/lib/offer-portuguese";

/** The routes /gallery and /gallery/:type, where :type is a type of works or "all". */
export function GalleryRoute() {
  const { type } = useParams();
  return (
    <PageShell>
      <GalleryPage type={type} onEnquire={useStartEnquiry()} />
    </PageShell>
  );
}

/**
 * Starts two things that wait for the visitor's first move (lib/visitor-moves.ts): the prefetch of the gallery's data when a link to
 * the gallery is hovered, touched or focused, and the offer of the Portuguese page. The function is in this file so that its code
 * loads with the gallery's chunk.
 */
export function startPrefetchAndOffer(queryClient: QueryClient, boot: Boot): void {
  prefetchGallery(queryClient, publicBackend(boot));
  offerPortuguese();
}
