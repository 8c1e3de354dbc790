import { useBoot } from "@/lib/boot";
import { lazyWithPreload } from "@/lib/lazy-with-preload";
import { ContactForm } from "@/features/contact/components/contact-form";
import type { Enquiry } from "@/features/contact/enquiry";

// Most sites say nothing about commissions, so this code is a chunk of its own.
const Commissions = lazyWithPreload(() =>
  import("@/features/contact/components/commissions").then((m) => m.Commissions),
);

/**
 * The texts about commissions and the contact form. There is no Suspense boundary between them, so
 * that both appear at the same time and the form does not move.
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
