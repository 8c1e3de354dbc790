import { DialogClose, DialogContent, DialogRoot } from "@/components/ui/dialog";
import { useLanguage } from "@/lib/i18n";
import { rowText } from "@/lib/local-text";
import type { Review } from "@/lib/types";
import { Signature } from "@/features/reviews/components/signature";
import { addQuotationMarks } from "@/features/reviews/quote";

type ReviewDialogProps = { review: Review; open: boolean; onClose(): void };

/** The dialog with the full text of a review. */
export function ReviewDialog({ review, open, onClose }: ReviewDialogProps) {
  const { language, t } = useLanguage();
  const message = rowText(language, review, "message");
  return (
    <DialogRoot open={open} onOpenChange={(next) => !next && onClose()}>
      <DialogContent
        label={t("testimonials.dialog", { name: review.client_name })}
        className="max-w-[640px] wrap-anywhere px-6 pt-14 pb-9 sm:px-10 sm:pt-10"
      >
        {/* Sticky, so that the close button stays visible while a long text scrolls. */}
        <div className="sticky top-2 z-10 h-0">
          <DialogClose className="bg-pop -top-12 -right-4 sm:-top-8 sm:-right-8" />
        </div>
        <p lang={message.lang} className="text-lead whitespace-pre-line sm:pr-6">
          {addQuotationMarks(message.text, language)}
        </p>
        <div className="mt-8">
          <Signature review={review} />
        </div>
      </DialogContent>
    </DialogRoot>
  );
}
