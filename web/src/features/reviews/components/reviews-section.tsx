import { Suspense, useCallback, useEffect, useId, useState } from "react";
import { CarouselArrows } from "@/components/media/carousel-arrows";
import { CarouselPages } from "@/components/media/carousel-pages";
import { Dots, useCarousel } from "@/components/media/carousel";
import { useT } from "@/lib/i18n";
import { lazyWithPreload } from "@/lib/lazy-with-preload";
import { queryKeys } from "@/lib/query-keys";
import type { Review } from "@/lib/types";
import { reviewsQuery, useReviews } from "@/features/reviews/api/get-reviews";
import { NoscriptReviews } from "@/features/reviews/components/noscript-reviews-loader";
import { ReviewCard } from "@/features/reviews/components/review-card";

const ReviewDialog = lazyWithPreload(() =>
  import("@/features/reviews/components/review-dialog").then((m) => m.ReviewDialog),
);

/**
 * The testimonials of the home page: a carousel of reviews. The section is hidden while the reviews load, and if there are none
 * (docs/product.md, rule 24).
 */
export function ReviewsSection() {
  const t = useT();
  const headingId = useId();
  const { data: firstPage, error, isPending, failureCount } = useReviews();
  const carousel = useCarousel();
  // The review in the dialog. It stays set while the closed dialog fades out.
  const [opened, setOpened] = useState<{ review: Review; open: boolean } | null>(null);
  const renderReview = useCallback(
    (review: Review) => (
      <ReviewCard review={review} onOpen={(chosen) => setOpened({ review: chosen, open: true })} />
    ),
    [],
  );

  useEffect(() => {
    if (error) console.error("The reviews could not be loaded", error);
  }, [error]);

  // base.css hides the sections below this element until the reviews have loaded or the first attempt has failed.
  if (isPending && failureCount === 0) return <div data-loading="" hidden />;
  if (!firstPage?.rows.length) return null;
  return (
    <>
      <section
        id="testimonials"
        aria-labelledby={headingId}
        onKeyDown={carousel.onKeyDown}
        className="bg-shade py-section [--gap:clamp(20px,2.6vw,40px)]"
      >
        <div className="page-container">
          {/* At least as high as the arrow buttons, which appear when the carousel has loaded. */}
          <div className="flex items-end justify-between gap-8 md:min-h-12">
            <h2 id={headingId} className="text-h2 oldstyle">
              {t("testimonials.title")}
            </h2>
            <CarouselArrows {...carousel} className="max-md:hidden" />
          </div>
          {/* The list is wider than this element by the gap on both sides, so that the outer lines are clipped. The
            small padding keeps focus rings from being clipped too. */}
          <div
            ref={carousel.viewportRef}
            data-carousel=""
            className="-mx-2 mt-[calc(clamp(28px,1.2rem+2.6vw,56px)-1px)] overflow-hidden px-2 pt-[3px] pb-0.5"
          >
            <ul className="mx-[calc(-1*var(--gap))] flex swipeable">
              <CarouselPages
                first={firstPage}
                selected={carousel.selected}
                LaterPages={carousel.LaterPages}
                queryKey={queryKeys.reviews.active}
                query={reviewsQuery}
                className="border-divider min-w-0 flex-[0_0_100%] border-l px-(--gap) pt-[3px] pb-2.5 md:flex-[0_0_50%] lg:flex-[0_0_33.3333%]"
                renderRow={renderReview}
              />
            </ul>
          </div>
          <div className="mt-[21px] flex min-h-12 items-center justify-between md:mt-[38px]">
            <Dots selected={carousel.selected} count={carousel.snaps} />
            <CarouselArrows {...carousel} className="ml-auto md:hidden" />
          </div>
          <noscript>{NoscriptReviews && <NoscriptReviews first={firstPage} />}</noscript>
          {carousel.driver}
        </div>
      </section>
      {opened && (
        <Suspense>
          <ReviewDialog
            review={opened.review}
            open={opened.open}
            onClose={() => setOpened({ ...opened, open: false })}
          />
        </Suspense>
      )}
    </>
  );
}
