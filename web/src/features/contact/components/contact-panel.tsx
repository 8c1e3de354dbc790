import { useBoot } from "@/lib/boot";
import { lazyWithPreload } from "@/lib/lazy-with-preload";
import { ContactForm } from "@/features/contact/components/contact-form";
import type { Enquiry } from "@/features/contact/enquiry";

// Most sites say nothing about commissions, so this code is a chunk of its own.
const Commissions = lazyWithPreload(() =>
  import("@/features/contact/components/commissions").then((m) => m.Commissions),
);

/**
 * What the owner says about commissions, and the contact form. There is no Suspense between them, so that both come at once
 * and the form does not move.
 */
export function ContactPanel({ enquiry }: { enquiry: Enquiry | null }) {
  const { commissions } = useBoot().site;
  return (
    <>
      {commissions && <Commissions {...commissions} />}
      <div className="contact-panel">
        <ContactForm enquiry={enquiry} />
      </div>
    </>
  );
}
