import { Suspense, useId } from "react";
import { useT } from "@/lib/i18n";
import { lazyWithPreload } from "@/lib/lazy-with-preload";
import { whenVisitorMoves } from "@/lib/visitor-moves";
import { ContactFormSkeleton } from "@/features/contact/components/contact-form-skeleton";
import { ContactLinks } from "@/features/contact/components/contact-links";
import type { Enquiry } from "@/features/contact/enquiry";

// The form is a chunk of its own, because the form libraries are half as large as the rest of the home page's code. The chunk loads
// at the visitor's first move (lib/visitor-moves.ts). Until then visitors can type into the form of the server's HTML, and
// early-input.ts keeps the input.
const ContactPanel = lazyWithPreload(async () => {
  if (!import.meta.env.SSR) await whenVisitorMoves();
  return (await import("@/features/contact/components/contact-panel")).ContactPanel;
});

type ContactSectionProps = {
  /**
   * The work that the visitor asks about; null if there is none. Each enquiry is a new object, even a second one about the same
   * work, so that the form applies the second one too.
   */
  enquiry: Enquiry | null;
};

/** The contact section of the home page: contact channels and the contact form. */
export function ContactSection({ enquiry }: ContactSectionProps) {
  const t = useT();
  const headingId = useId();
  return (
    <section id="contact" aria-labelledby={headingId} className="pb-section">
      <div className="page-container grid gap-x-[7vw] gap-y-10 lg:grid-cols-[5fr_6fr] lg:items-start">
        <div>
          <h2 id={headingId} className="text-h1 oldstyle">
            {t("contact.title")}
          </h2>
          <p className="text-lead mt-[22px]">{t("contact.subtitle")}</p>
          <p className="mt-[18px] max-w-[33em]">{t("contact.description")}</p>
          <ContactLinks />
        </div>
        <Suspense fallback={<ContactFormSkeleton />}>
          <ContactPanel enquiry={enquiry} />
        </Suspense>
      </div>
    </section>
  );
}
