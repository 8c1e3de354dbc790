import { ChevronDown } from "lucide-react";
import { useController, useWatch, type UseFormReturn } from "react-hook-form";
import { LanguageField } from "@/components/form/language-field";
import { Picture } from "@/components/media/picture";
import { Button } from "@/components/ui/button";
import type { ProductValues } from "@/features/admin-products/schema";
import type { Language } from "@/lib/boot";
import { LANGUAGES } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import type { MediaInfo } from "@/lib/media";
import type { AltTexts } from "@/lib/types";

type AltTextFieldsProps = {
  form: Pick<UseFormReturn<ProductValues>, "control">;
  /** The URLs of the work's pictures, the main one first. */
  urls: readonly string[];
  /** Metadata of the stored files. */
  media?: MediaInfo;
};

/**
 * The inputs for the alternative texts of a work's pictures (what each picture shows, in words), in both languages. The inputs
 * are in a collapsed group. The owner can insert a suggestion, which is made from the title and the medium of the work.
 */
export function AltTextFields({ form: { control }, urls, media }: AltTextFieldsProps) {
  const t = useT();
  const { field } = useController({ control, name: "alt_texts" });
  // The form has the texts as JSON, by the URL of the picture.
  const altTexts = JSON.parse(field.value) as AltTexts;
  const suggestions = useSuggestions(control);
  if (urls.length === 0) return null;
  const describedUrls = urls.filter(
    (url) => altTexts[url]?.en?.trim() || altTexts[url]?.pt?.trim(),
  );

  function change(url: string, texts: Partial<Record<Language, string>>) {
    field.onChange(JSON.stringify({ ...altTexts, [url]: { ...altTexts[url], ...texts } }));
  }

  return (
    <details className="border-line group border-y">
      <summary className="label-text hover:text-indigo flex min-h-12 cursor-pointer items-center gap-1.5 py-2">
        <ChevronDown
          aria-hidden="true"
          size={20}
          strokeWidth={1.5}
          className="transition-transform duration-200 group-open:rotate-180"
        />
        {t("products.altTexts")}
        <span className="text-ink2 ml-auto font-[430]">
          {/* The text "{n} of {total}" of the carousel also fits this count. */}
          {t("carousel.position", { n: describedUrls.length, total: urls.length })}
        </span>
      </summary>
      <p className="text-ink2 pb-4 text-sm">{t("products.altTextsHint")}</p>
      <ul className="grid gap-6 pb-5">
        {urls.map((url, index) => {
          const info = media?.[url];
          const texts = altTexts[url] ?? {};
          const name = t("products.altOf", { n: index + 1 });
          // The languages in which the picture has no text, but a suggestion.
          const fillable = LANGUAGES.filter((lang) => !texts[lang]?.trim() && suggestions[lang]);
          return (
            <li key={url} className="grid gap-4 sm:grid-cols-[92px_minmax(0,1fr)]">
              <Picture
                src={url}
                alt=""
                info={info?.kind === "image" ? info : undefined}
                sizes={[["", "92px"]]}
                className="bg-shade h-auto max-h-[92px] w-auto max-w-[92px]"
              />
              <div className="grid items-start gap-x-[22px] gap-y-3 sm:grid-cols-2">
                {LANGUAGES.map((language) => (
                  <LanguageField
                    key={language}
                    language={language}
                    label={name}
                    placeholder={suggestions[language]}
                    value={texts[language] ?? ""}
                    onChange={(event) => change(url, { [language]: event.target.value })}
                    onBlur={field.onBlur}
                  />
                ))}
                {fillable.length > 0 && (
                  <Button
                    variant="ghost"
                    size="sm"
                    className="justify-self-start px-3"
                    aria-label={t("products.altSuggestFor", { n: index + 1 })}
                    onClick={() =>
                      change(
                        url,
                        Object.fromEntries(fillable.map((lang) => [lang, suggestions[lang]])),
                      )
                    }
                  >
                    {t("products.altSuggest")}
                  </Button>
                )}
              </div>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** The suggested alternative text in each language, made from the work's title and medium; "" without a title. */
function useSuggestions(control: AltTextFieldsProps["form"]["control"]): Record<Language, string> {
  const [title, titlePt, medium, mediumPt] = useWatch({
    control,
    name: ["title", "title_pt", "medium", "medium_pt"],
  });
  const join = (...parts: string[]) =>
    parts
      .map((part) => part.trim())
      .filter(Boolean)
      .join(", ");
  return {
    en: title.trim() && join(title, medium),
    pt: (titlePt || title).trim() && join(titlePt || title, mediumPt),
  };
}
