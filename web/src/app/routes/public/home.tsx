import { useStartEnquiry, useEnquiry } from "@/app/routes/public/use-enquiry";
import { PageShell } from "@/components/layout/page-shell";
import { AboutSection } from "@/features/about/components/about-section";
import { FeaturedStrip } from "@/features/artworks/components/featured-strip";
import { ContactSection } from "@/features/contact/components/contact-section";
import { Hero } from "@/features/hero/components/hero";
import { ReviewsSection } from "@/features/reviews/components/reviews-section";
import { useBoot } from "@/lib/boot";

/** The home page: its sections in order. A section without content renders nothing. */
export function HomeRoute() {
  const { site } = useBoot();
  // An enquiry is the work that a new message is about. startEnquiry navigates to this page and passes the enquiry on. useEnquiry
  // receives the enquiries that this page and the gallery have started.
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
