import "@/lib/work-texts"; // adds the texts of an opened work
import { useBoot, type CommissionSettings } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { useOwnerText } from "@/lib/site-text";
import type { Product } from "@/lib/types";

/**
 * The commission settings for a customizable work. Undefined for other works, and if the owner says
 * nothing about commissions.
 */
function useCommissions(product: Product): CommissionSettings | undefined {
  const { commissions } = useBoot().site;
  return product.is_customizable && commissions?.state ? commissions : undefined;
}

/** The label of a work's button or link to the contact form: "Ask about this work" or "Commission something like this". */
export function useEnquiryLabel(product: Product): string {
  const t = useT();
  const state = useCommissions(product)?.state;
  return t(state && state !== "closed" ? "work.commission" : "gallery.ask");
}

/** A note beside a customizable work: whether the artist takes commissions, and how long a commission takes. */
export function CommissionNote({ product }: { product: Product }) {
  const commissions = useCommissions(product);
  return commissions?.state && <Note state={commissions.state} texts={commissions.texts} />;
}

/** What the note needs: the state of commissions, and the owner's texts about them. */
type NoteProps = { state: "open" | "waitlist" | "closed"; texts: CommissionSettings["texts"] };

/** The sentence about the state of commissions, and how long one takes, unless commissions are closed. */
function Note({ state, texts }: NoteProps) {
  const t = useT();
  const leadTime = useOwnerText(texts, "leadTime");
  return (
    <p className="text-ink2 mt-4 text-sm">
      {t(`work.${state}`)}
      {leadTime.text && state !== "closed" && (
        <>
          {" "}
          {t("work.leadTime")} <span lang={leadTime.lang}>{leadTime.text}</span>
        </>
      )}
    </p>
  );
}
