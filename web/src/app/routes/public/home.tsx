import { useStartEnquiry, useEnquiry } from "@/app/routes/public/use-enquiry";
import { PageShell } from "@/components/layout/page-shell";
import { AboutSection } from "@/features/about/components/about-section";
import { FeaturedStrip } from "@/features/artworks/components/featured-strip";
import { ContactSection } from "@/features/contact/components/contact-section";
import { Hero } from "@/features/hero/components/hero";
import { ReviewsSection } from "@/features/reviews/components/reviews-section";
import { useBoot } from "@/lib/boot";

/** The home page: its sections in order. Each section decides itself whether it is shown. */
export function HomeRoute() {
  const { site } = useBoot();
  // startEnquiry navigates to this page and passes the enquiry, here and in the gallery; useEnquiry receives the enquiry.
  const startEnquiry = useStartEnquiry();
  const enquiry = useEnquiry();
  return (
    <PageShell>
      <h1 className="sr-only">{site.name}</h1>
      <Hero />
      <FeaturedStrip onEnquire={startEnquiry} />
      <ReviewsSection />
      <AboutSection />
      <ContactSection enquiry={enquiry} />
    </PageShell>
  );
}
