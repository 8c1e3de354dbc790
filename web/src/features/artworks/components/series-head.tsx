import { useLanguage } from "@/lib/i18n";
import { localText } from "@/lib/local-text";
import type { Series } from "@/lib/types";

type SeriesHeadProps = {
  series: Pick<Series, "title" | "title_pt" | "text" | "text_pt">;
};

/** The title and the text of a series (works that the owner shows together), at the top of its page. */
export function SeriesHead({ series }: SeriesHeadProps) {
  const { language } = useLanguage();
  const title = localText(language, series.title, series.title_pt);
  const about = localText(language, series.text, series.text_pt);
  return (
    <div className="max-w-[46rem]">
      <h1 lang={title.lang} className="text-h1 wrap-anywhere">
        {title.text}
      </h1>
      {about.text && (
        <p lang={about.lang} className="text-lead mt-6 wrap-anywhere whitespace-pre-line">
          {about.text}
        </p>
      )}
    </div>
  );
}
