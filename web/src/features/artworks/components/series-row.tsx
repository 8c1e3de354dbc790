import { Picture } from "@/components/media/picture";
import { Link } from "@/components/ui/link";
import { cn } from "@/lib/cn";
import type { GalleryFilter } from "@/lib/gallery-settings";
import { useLanguage, useT } from "@/lib/i18n";
import { localText } from "@/lib/local-text";
import { imageInfo, ratioOf } from "@/lib/media";
import { addTexts } from "@/lib/texts";
import en from "@/locales/series/en.json";
import pt from "@/locales/series/pt.json";
import type { SeriesEntry } from "@/features/artworks/api/get-series";

addTexts({ en, pt });

type SeriesRowProps = {
  series: readonly SeriesEntry[];
  /** The filter of the gallery, which the links keep. */
  filter: GalleryFilter;
  /** The slug (the name in URLs) of the series that the page shows. */
  current: string | undefined;
};

/**
 * The row of links to series (works that the owner shows together) above the gallery. On small screens the row scrolls sideways.
 */
export function SeriesRow({ series, filter, current }: SeriesRowProps) {
  const t = useT();
  const { language } = useLanguage();
  if (series.length === 0) return null;
  return (
    <nav aria-label={t("series.row")} className="mt-9">
      <ul className="-mx-gutter px-gutter flex gap-x-5 gap-y-6 overflow-x-auto py-1 sm:mx-0 sm:flex-wrap sm:overflow-visible sm:px-0">
        {series.map((entry) => {
          const { text, lang } = localText(language, entry.title, entry.title_pt);
          const info = imageInfo(entry, entry.image_url);
          const isCurrent = entry.slug === current;
          return (
            <li key={entry.id} className="w-36 flex-none">
              <Link
                to={`/gallery/${filter}?series=${entry.slug}`}
                aria-current={isCurrent ? "page" : undefined}
                className="group block h-full focus-visible:outline-offset-4"
              >
                <span className="flex h-24 items-end">
                  {entry.image_url && (
                    <Picture
                      src={entry.image_url}
                      alt=""
                      info={info}
                      sizes={[["", "144px"]]}
                      // A picture that cannot be shown leaves no placeholder.
                      onMissing={() => undefined}
                      // At most 96 CSS pixels high, as the row of pictures (h-24).
                      style={
                        info && {
                          width: `min(100%, ${96 * ratioOf(info)}px)`,
                          aspectRatio: ratioOf(info),
                        }
                      }
                      className={cn("work-shadow h-auto", !info && "max-h-24 max-w-full")}
                    />
                  )}
                </span>
                <span
                  lang={lang}
                  className={cn(
                    "ease-soft mt-2.5 block border-b-3 pb-1.5 leading-tight wrap-anywhere transition-colors duration-200",
                    isCurrent
                      ? "border-indigo font-[570]"
                      : "border-line group-hover:border-indigo",
                  )}
                >
                  <span className="line-clamp-3">{text}</span>
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
