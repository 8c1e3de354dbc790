import type { QueryClient } from "@tanstack/react-query";
import { useParams } from "react-router";
import { useStartEnquiry } from "@/app/routes/public/use-enquiry";
import { PageShell } from "@/components/layout/page-shell";
import { GalleryPage } from "@/features/artworks/components/gallery-page";
import { prefetchGallery } from "@/features/artworks/prefetch-gallery";
import { publicBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";

/** The routes /gallery and /gallery/:type. */
export function GalleryRoute() {
  const { type } = useParams();
  return (
    <PageShell>
      <GalleryPage type={type} onEnquire={useStartEnquiry()} />
    </PageShell>
  );
}

/** Starts prefetching the gallery's data. It is in this file, so that its code loads with the gallery's chunk. */
export function startGalleryPrefetch(cache: QueryClient, boot: Boot): void {
  prefetchGallery(cache, publicBackend(boot));
}
