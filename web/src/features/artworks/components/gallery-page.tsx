import type { CSSProperties } from "react";
import { Button } from "@/components/ui/button";
import { TextLink } from "@/components/ui/text-link";
import { useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";
import { usePageTitle } from "@/lib/use-page-title";
import { useGalleryProducts } from "@/features/artworks/api/get-gallery-products";
import { artworkTitle } from "@/features/artworks/artwork-label";
import { ArtworkDialogLoader } from "@/features/artworks/components/artwork-dialog-loader";
import { GalleryFilters } from "@/features/artworks/components/gallery-filters";
import { Hang } from "@/features/artworks/components/hang";
import { RailSkeleton } from "@/features/artworks/components/rail-skeleton";
import { filterKeys, parseFilter } from "@/features/artworks/gallery-filter";
import { useArtworkInAddress } from "@/features/artworks/hooks/use-artwork-in-address";

type GalleryPageProps = { type: string | undefined; onAsk(product: Product): void };

const wall =
  "grid grid-cols-1 gap-y-[clamp(3rem,2rem+3vw,5rem)] [--hang-gap:0px] sm:grid-cols-2 sm:[--hang-gap:clamp(20px,2.6vw,44px)] lg:grid-cols-3 xl:grid-cols-4";
const rest = "sm:[--rest:var(--rest-2)] lg:[--rest:var(--rest-3)] xl:[--rest:var(--rest-4)]";

/** How many places stay empty in the last row, for each number of columns. */
function emptyPlaces(count: number) {
  const left = (columns: number) => (columns - (count % columns)) % columns;
  return { "--rest-2": left(2), "--rest-3": left(3), "--rest-4": left(4) } as CSSProperties;
}

export function GalleryPage({ type, onAsk }: GalleryPageProps) {
  const t = useT();
  const filter = parseFilter(type);
  const { data: products, isPending, isError, isFetching, refetch } = useGalleryProducts(filter);
  const artwork = useArtworkInAddress(products);
  const heading =
    filter === "all" ? t("gallery.title") : `${t(filterKeys[filter])} · ${t("gallery.title")}`;
  usePageTitle(artwork.product ? artworkTitle(artwork.product, t) : heading);

  return (
    <div className="wrap pb-section pt-[clamp(50px,1.75rem+4.1vw,5.5rem)]">
      <div className="flex flex-wrap items-end justify-between gap-x-8 gap-y-6">
        <h1 className="text-h1">{t("gallery.title")}</h1>
        <GalleryFilters current={filter} />
      </div>

      <div className="relative pt-(--wall-top) [--wall-top:clamp(32px,1.4rem+2.05vw,56px)]">
        {/* Lies in the space above the wall, so that nothing moves when it goes. */}
        <p
          role="status"
          className="text-ink2 absolute top-[calc(var(--wall-top)/2-0.75rem)] left-0 text-sm"
        >
          {isPending && t("gallery.loading")}
        </p>
        {isPending ? (
          <div className={wall}>
            {Array.from({ length: 8 }, (_, n) => (
              <RailSkeleton key={n} index={n} layout="wall" />
            ))}
          </div>
        ) : products && products.length > 0 ? (
          <ul className={`${wall} ${rest}`} style={emptyPlaces(products.length)}>
            {products.map((product, n) => (
              <li key={product.id}>
                <Hang
                  product={product}
                  onOpen={artwork.open}
                  layout="wall"
                  eager={n < 2}
                  sizes="(min-width: 80rem) 23vw, (min-width: 64rem) 30vw, (min-width: 40rem) 45vw, 100vw"
                />
              </li>
            ))}
          </ul>
        ) : (
          <div className="border-rail min-h-[40svh] border-b pt-8">
            <p className="text-lead mb-4">{t(isError ? "gallery.error" : "gallery.empty")}</p>
            {isError ? (
              <Button variant="outline" loading={isFetching} onClick={() => void refetch()}>
                {t("common.retry")}
              </Button>
            ) : (
              filter !== "all" && <TextLink to="/gallery/all">{t("gallery.seeAll")}</TextLink>
            )}
          </div>
        )}
      </div>
      <ArtworkDialogLoader product={artwork.product} onClose={artwork.close} onAsk={onAsk} />
    </div>
  );
}
