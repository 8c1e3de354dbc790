import { useLanguage, useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";
import { labelRows } from "@/features/artworks/label-rows";

/** The description and details of a work, for its dialog and for pages without scripts. */
export function ArtworkFacts({ product }: { product: Product }) {
  const t = useT();
  const { language } = useLanguage();
  return (
    <>
      {product.description && (
        <p className="mt-[15px] whitespace-pre-line">{product.description}</p>
      )}
      <dl className="border-divider mt-[27px] border-t-2 text-sm">
        {labelRows(product, t, language).map(({ term, text }) => (
          <div
            key={term}
            className="border-line grid grid-cols-[minmax(7rem,47%)_minmax(0,1fr)] border-b py-[11px] leading-[1.52]"
          >
            <dt className="text-ink2">{t(term)}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
