import { useLanguage } from "@/lib/i18n";
import { rowText } from "@/lib/local-text";
import type { Review } from "@/lib/types";
import { Signature } from "@/features/reviews/components/signature";
import { addQuotationMarks } from "@/features/reviews/quote";

type ReviewCardProps = { review: Review; onOpen(review: Review): void };

/** A review in the carousel, shortened to four lines. It is a button that opens the full text. */
export function ReviewCard({ review, onOpen }: ReviewCardProps) {
  const { language, t } = useLanguage();
  const message = rowText(language, review, "message");
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      onClick={() => onOpen(review)}
      className="group flex size-full wrap-anywhere flex-col items-start text-left"
    >
      <span lang={message.lang} className="text-review line-clamp-4 text-pretty">
        {addQuotationMarks(message.text, language)}
      </span>
      <span className="text-link mt-5 mb-[37px] text-sm md:mb-[57px] lg:mb-[49px] font-[520] group-hover:decoration-3">
        {t("testimonials.readFull")}
      </span>
      <span className="mt-auto">
        <Signature review={review} />
      </span>
    </button>
  );
}
