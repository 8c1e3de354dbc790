import type { QueryClient } from "@tanstack/react-query";
import { useParams } from "react-router";
import { useAskAbout } from "@/app/routes/public/ask-about";
import { PageShell } from "@/components/layout/page-shell";
import { GalleryPage } from "@/features/artworks/components/gallery-page";
import { fetchNearWalls } from "@/features/artworks/near-walls";
import { publicBackend } from "@/lib/backend";
import type { Boot } from "@/lib/boot";

export function GalleryRoute() {
  const { type } = useParams();
  return (
    <PageShell>
      <GalleryPage type={type} onAsk={useAskAbout()} />
    </PageShell>
  );
}

/** From now on walls are read when a link to them is approached; this comes with the code that draws them. */
export function startNearWalls(cache: QueryClient, boot: Boot): void {
  fetchNearWalls(cache, publicBackend(boot));
}
