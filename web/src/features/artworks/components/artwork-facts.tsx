import { useLanguage } from "@/lib/i18n";
import { rowText } from "@/lib/local-text";
import type { Product } from "@/lib/types";
import { labelRows } from "@/features/artworks/label-rows";

/** The description and details of a work, for its dialog and for pages without scripts. */
export function ArtworkFacts({ product }: { product: Product }) {
  const pageLanguage = useLanguage();
  const description = rowText(pageLanguage.language, product, "description");
  return (
    <>
      {description.text && (
        <p lang={description.lang} className="mt-[15px] whitespace-pre-line">
          {description.text}
        </p>
      )}
      <dl className="border-divider mt-[27px] border-t-2 text-sm">
        {labelRows(product, pageLanguage).map(({ term, text, lang }) => (
          <div
            key={term}
            className="border-line grid grid-cols-[minmax(7rem,47%)_minmax(0,1fr)] border-b py-[11px] leading-[1.52]"
          >
            <dt className="text-ink2">{pageLanguage.t(term)}</dt>
            <dd lang={lang}>{text}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
