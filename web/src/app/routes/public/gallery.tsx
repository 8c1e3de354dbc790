import { useParams } from "react-router";
import { useAskAbout } from "@/app/routes/public/ask-about";
import { PageShell } from "@/components/layout/page-shell";
import { GalleryPage } from "@/features/artworks/components/gallery-page";

export function GalleryRoute() {
  const { type } = useParams();
  return (
    <PageShell>
      <GalleryPage type={type} onAsk={useAskAbout()} />
    </PageShell>
  );
}
