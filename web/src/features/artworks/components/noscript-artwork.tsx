import "@/lib/gallery-texts"; // adds the texts of the gallery
import "@/lib/work-texts"; // adds the texts of an opened work
import { useQueryClient, type QueryKey } from "@tanstack/react-query";
import { Video } from "@/components/media/video";
import { Picture } from "@/components/media/picture";
import { TextLink } from "@/components/ui/text-link";
import { buttonClasses } from "@/components/ui/button-classes";
import { useBoot } from "@/lib/boot";
import type { GalleryFilter } from "@/lib/gallery-settings";
import { useLanguage, useLocalizedUrl } from "@/lib/i18n";
import { ratioStyle } from "@/lib/media";
import type { Product } from "@/lib/types";
import { artworkTitle } from "@/features/artworks/artwork-label";
import { artworkMedia } from "@/features/artworks/artwork-media";
import { ArtworkFacts } from "@/features/artworks/components/artwork-facts";
import { CommissionNote, useEnquiryLabel } from "@/features/artworks/components/commission-note";
import type { ArtworksPage } from "@/features/artworks/paging";

type NoscriptArtworkProps = {
  /** The first page of works; undefined if it could not be read. */
  firstPage: ArtworksPage | undefined;
  /** Returns the key of the query of a work that is not on the first page. */
  queryKey(id: string): QueryKey;
  /** The filter of the gallery page to which the link below the work leads. */
  filter: GalleryFilter;
};

/**
 * The work whose id is in ?art= of the URL, for browsers without scripts, which cannot open the artwork dialog. Rendered only on
 * the server, inside noscript.
 */
export function NoscriptArtwork({ firstPage, queryKey, filter }: NoscriptArtworkProps) {
  const { art } = useBoot();
  const queryClient = useQueryClient();
  if (!art) return null;
  const product =
    firstPage?.rows.find((row) => row.id === art) ??
    queryClient.getQueryData<Product | null>(queryKey(art));
  return product ? <Work product={product} filter={filter} /> : null;
}

/** The work with its media, facts and a link to the contact form. */
function Work({ product, filter }: { product: Product; filter: GalleryFilter }) {
  const pageLanguage = useLanguage();
  const { language, t } = pageLanguage;
  const title = artworkTitle(product, pageLanguage);
  const contact = useLocalizedUrl("/#contact");
  const label = useEnquiryLabel(product);
  return (
    <article
      aria-label={title.text}
      className="border-divider mb-section grid gap-x-12 gap-y-8 border-b pb-12 lg:grid-cols-[minmax(0,1fr)_392px]"
    >
      <div className="grid gap-8">
        {artworkMedia(product, language).map((item) =>
          item.kind === "video" ? (
            <Video
              key={item.url}
              src={item.url}
              info={item.info}
              controls
              aria-label={t("gallery.video", { title: title.text })}
              className="h-auto w-full"
            />
          ) : (
            <Picture
              key={item.url}
              src={item.url}
              // The picture's alternative text, or the title of the work.
              {...(({ text: alt, lang }) => ({ alt, lang }))(item.alt.text ? item.alt : title)}
              info={item.info}
              sizes={
                item.info && [
                  ["(min-width:64rem)", "60vw"],
                  ["", "92vw"],
                ]
              }
              bounds={[320, Infinity]}
              eager
              // A picture that cannot be shown leaves no placeholder.
              onMissing={() => undefined}
              style={item.info && ratioStyle(item.info)}
              className="h-auto max-h-[86svh] w-auto max-w-full"
            />
          ),
        )}
      </div>
      <div>
        <h2
          lang={title.lang}
          className="text-[2.375rem] leading-[1.2] font-[350] tracking-[-0.01em] italic"
        >
          {title.text}
        </h2>
        <ArtworkFacts product={product} />
        <p className="mt-8 flex flex-wrap items-center gap-x-8 gap-y-4">
          <a href={contact} className={buttonClasses({ variant: "outline" })}>
            {label}
          </a>
          <TextLink to={`/gallery/${filter}`}>{t("gallery.seeAll")}</TextLink>
        </p>
        <CommissionNote product={product} />
      </div>
    </article>
  );
}
