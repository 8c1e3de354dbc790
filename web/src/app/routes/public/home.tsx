import { useAskAbout, useEnquiry } from "@/app/routes/public/ask-about";
import { PageShell } from "@/components/layout/page-shell";
import { AboutSection } from "@/features/about/components/about-section";
import { FeaturedStrip } from "@/features/artworks/components/featured-strip";
import { ContactSection } from "@/features/contact/components/contact-section";
import { Hero } from "@/features/hero/components/hero";
import { ReviewsSection } from "@/features/reviews/components/reviews-section";
import { useBoot } from "@/lib/boot";
import { usePageTitle } from "@/lib/use-page-title";

export function HomeRoute() {
  const { site } = useBoot();
  const askAbout = useAskAbout();
  const enquiry = useEnquiry();
  usePageTitle();
  return (
    <PageShell>
      <h1 className="sr-only">{site.name}</h1>
      <Hero />
      <FeaturedStrip onAsk={askAbout} />
      <ReviewsSection />
      <AboutSection />
      <ContactSection enquiry={enquiry} />
    </PageShell>
  );
}
