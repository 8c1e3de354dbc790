import { X } from "lucide-react";
import { Picture } from "@/components/media/picture";
import { IconButton } from "@/components/ui/icon-button";
import { useT } from "@/lib/i18n";
import { imageInfo, ratioStyle } from "@/lib/media";
import { addTexts } from "@/lib/texts";
import type { Product } from "@/lib/types";
import en from "@/locales/enquiry/en.json";
import pt from "@/locales/enquiry/pt.json";

addTexts({ en, pt });

type EnquiryArtworkProps = {
  product: Product;
  /** Called when the visitor removes the work from the message. Missing while the message is sent: there is no button then. */
  onRemove?(): void;
};

/** The work that the visitor asks about, above the fields of the contact form. */
export function EnquiryArtwork({ product, onRemove }: EnquiryArtworkProps) {
  const t = useT();
  const info = imageInfo(product, product.image_url);
  return (
    <div className="border-divider mt-6 flex items-center gap-4 border-b pb-4">
      {product.image_url && (
        <div className="grid size-20 flex-none place-items-center">
          <Picture
            key={product.image_url}
            src={product.image_url}
            alt=""
            info={info}
            sizes={info && [["", "80px"]]}
            // A picture that cannot be shown leaves no placeholder.
            onMissing={() => undefined}
            style={info && ratioStyle(info)}
            className="max-h-full max-w-full"
          />
        </div>
      )}
      <p className="min-w-0 flex-1">
        <span className="text-ink2 block text-sm">{t("enquiry.about")}</span>
        <span className="block truncate italic">
          {product.title.trim() || t("gallery.untitled")}
        </span>
      </p>
      {onRemove && (
        <IconButton variant="ghost" label={t("enquiry.remove")} onClick={onRemove}>
          <X aria-hidden="true" size={20} strokeWidth={1.75} />
        </IconButton>
      )}
    </div>
  );
}
