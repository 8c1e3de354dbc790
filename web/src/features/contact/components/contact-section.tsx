import { Suspense, useId } from "react";
import { useT } from "@/lib/i18n";
import { part } from "@/lib/part";
import { ContactFormWaiting } from "@/features/contact/components/contact-form-waiting";
import { ContactWays } from "@/features/contact/components/contact-ways";
import type { Enquiry } from "@/features/contact/enquiry";

// The form brings its own libraries, half as heavy as the rest of the page: they follow it.
const ContactForm = part(() =>
  import("@/features/contact/components/contact-form").then((m) => m.ContactForm),
);

type ContactSectionProps = {
  /** A work that the visitor asks about; each asking is a new object. */
  enquiry: Enquiry | null;
};

export function ContactSection({ enquiry }: ContactSectionProps) {
  const t = useT();
  const headingId = useId();
  return (
    <section id="contact" aria-labelledby={headingId} className="pb-section">
      <div className="wrap grid gap-x-[7vw] gap-y-10 lg:grid-cols-[5fr_6fr] lg:items-start">
        <div>
          <h2 id={headingId} className="text-h1 osf">
            {t("contact.title")}
          </h2>
          <p className="text-lead mt-[22px]">{t("contact.subtitle")}</p>
          <p className="mt-[18px] max-w-[33em]">{t("contact.description")}</p>
          <ContactWays />
        </div>
        {/* On phones the panel reaches both edges of the screen. */}
        <div className="bg-sombra border-barra -mx-(--spacing-gutter) border-b-10 px-(--spacing-gutter) py-[clamp(24px,3.4vw,52px)] md:mx-0 md:px-[clamp(24px,3.4vw,52px)]">
          <Suspense fallback={<ContactFormWaiting />}>
            <ContactForm enquiry={enquiry} />
          </Suspense>
        </div>
      </div>
    </section>
  );
}
