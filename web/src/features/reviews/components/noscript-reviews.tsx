import { useQueryClient } from "@tanstack/react-query";
import type { RowsPage } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { CAROUSEL_PAGE } from "@/lib/constants";
import { useLanguage, useLocalizedUrl, useT } from "@/lib/i18n";
import { rowText } from "@/lib/local-text";
import { queryKeys } from "@/lib/query-keys";
import type { Review } from "@/lib/types";
import { Signature } from "@/features/reviews/components/signature";
import { addQuotationMarks } from "@/features/reviews/quote";

/**
 * One page of reviews, whose number is in ?reviews= of the URL, and links to the previous and the next page. They are for browsers
 * without scripts, in which the carousel shows only the first page (`first`). Rendered only on the server, inside noscript.
 */
export function NoscriptReviews({ first: { rows, total } }: { first: RowsPage<Review> }) {
  const t = useT();
  const { language } = useLanguage();
  // The number of the page, from 1; 0 if the URL has none.
  const { reviewsPage = 0 } = useBoot();
  // Undefined without a number. The keys in the query cache count pages from 0.
  const laterRows = useQueryClient().getQueryData<RowsPage<Review>>([
    ...queryKeys.reviews.active,
    reviewsPage - 1,
  ])?.rows;
  // The home page can leave out reviews of the first page, because long reviews would make it too large (internal/pages, rowBytes).
  // Then the link leads to ?reviews=1, which shows the whole first page.
  const nextPage = reviewsPage || rows.length === CAROUSEL_PAGE ? Math.max(2, reviewsPage + 1) : 1;
  return (
    <>
      {reviewsPage > 1 && (
        <ul className="mt-12 grid gap-x-16 gap-y-12 lg:grid-cols-2">
          {laterRows?.map((review) => {
            const message = rowText(language, review, "message");
            return (
              <li key={review.id} className="wrap-anywhere">
                <p lang={message.lang} className="text-review mb-6 whitespace-pre-line">
                  {addQuotationMarks(message.text, language)}
                </p>
                <Signature review={review} />
              </li>
            );
          })}
        </ul>
      )}
      {(reviewsPage > 1 || total > rows.length) && (
        <nav aria-label={t("testimonials.title")} className="mt-8 flex gap-x-8">
          {reviewsPage > 1 && (
            <PageLink page={reviewsPage - 1} rel="prev">
              {t("carousel.previous")}
            </PageLink>
          )}
          {(nextPage - 1) * CAROUSEL_PAGE < total && (
            <PageLink page={nextPage} rel="next">
              {t("carousel.next")}
            </PageLink>
          )}
        </nav>
      )}
    </>
  );
}

/** A link to another page of reviews. */
function PageLink({ page, rel, children }: { page: number; rel: string; children: string }) {
  return (
    <a
      href={useLocalizedUrl(`/?reviews=${page}#testimonials`)}
      rel={rel}
      className="text-link inline-flex min-h-11 items-center font-[520]"
    >
      {children}
    </a>
  );
}
