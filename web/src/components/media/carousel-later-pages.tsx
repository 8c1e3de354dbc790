import { memo, useEffect, useRef, type ReactNode } from "react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { buttonClasses } from "@/components/ui/button-classes";
import { Skeleton } from "@/components/ui/skeleton";
import { usePublicBackend } from "@/lib/backend";
import type { CarouselSlides } from "@/lib/carousel-query";
import { CAROUSEL_AHEAD, CAROUSEL_PAGE } from "@/lib/constants";
import { useT } from "@/lib/i18n";

type LaterPagesProps<Row> = CarouselSlides<Row> & {
  /** The number of rows in all pages, as the first page reports it. */
  total: number;
  /** The index of the furthest slide that the visitor has reached. */
  furthest: number;
};

/** The slides of a carousel after its first page. A page has the rows that one request fetches, at most CAROUSEL_PAGE. */
export function LaterPages<Row>({ total, furthest, ...slides }: LaterPagesProps<Row>) {
  const pages = Math.ceil(total / CAROUSEL_PAGE);
  return Array.from({ length: pages - 1 }, (_, n) => (
    <LaterPage
      key={n}
      {...slides}
      page={n + 1}
      total={total}
      isNear={(n + 1) * CAROUSEL_PAGE <= furthest + CAROUSEL_AHEAD}
    />
  ));
}

type LaterPageProps<Row> = CarouselSlides<Row> & {
  /** The number of the page, counted from 0. */
  page: number;
  /** The number of rows in all pages, as the first page reports it. */
  total: number;
  /** Whether the visitor is so near to the page that it must load. */
  isNear: boolean;
};

/** Renders the default placeholder of a slide. */
const renderBlock = () => <Skeleton className="aspect-2/1" />;

/**
 * The slides of one page. They keep their elements while their rows load, because embla (the library that
 * moves the carousel) restarts whenever slides are replaced.
 */
const LaterPage = memo(function LaterPage<Row>(props: LaterPageProps<Row>) {
  const { queryKey, query, className, renderRow, page, total, isNear } = props;
  const { renderPlaceholder = renderBlock } = props;
  const t = useT();
  const queryClient = useQueryClient();
  const { data, error, isError, isFetching, refetch } = useQuery({
    ...query(usePublicBackend(), page),
    enabled: isNear,
  });
  const firstSlide = useRef<HTMLLIElement>(null);
  // Whether the placeholder has the focus. When the page has loaded, the focus moves to the first row.
  const hasFocus = useRef(false);
  const loaded = data !== undefined;
  const reportedTotal = data?.total;

  // Rows were added or removed since the first page was fetched, so all pages are fetched again.
  useEffect(() => {
    if (reportedTotal !== undefined && reportedTotal !== total)
      void queryClient.invalidateQueries({ queryKey });
  }, [reportedTotal, total, queryClient, queryKey]);

  // Moves the focus from the removed placeholder to the first row.
  useEffect(() => {
    if (!loaded || !hasFocus.current) return;
    hasFocus.current = false;
    firstSlide.current?.querySelector<HTMLElement>("a,button")?.focus({ preventScroll: true });
  }, [loaded]);

  useEffect(() => {
    if (error) console.error("The next slides could not be loaded", error);
  }, [error]);

  /** The first slide of a page that loads can be focused, so that Tab does not skip the page. */
  function renderFirst() {
    const events = {
      onFocus: () => (hasFocus.current = true),
      onBlur: () => (hasFocus.current = false),
    };
    return isError ? (
      <div>
        <p className="mb-4">{t("carousel.error")}</p>
        <button
          type="button"
          {...events}
          aria-disabled={isFetching || undefined}
          onClick={() => void refetch()}
          className={buttonClasses({ variant: "outline" })}
        >
          {t("common.retry")}
        </button>
      </div>
    ) : (
      <div
        role="group"
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- placeholder for links and buttons
        tabIndex={0}
        aria-label={t("carousel.loading")}
        aria-busy="true"
        {...events}
      >
        {renderPlaceholder(0)}
      </div>
    );
  }

  return Array.from({ length: Math.min(CAROUSEL_PAGE, total - page * CAROUSEL_PAGE) }, (_, n) => {
    const row = data?.rows[n];
    const pending = isNear && !loaded && (n === 0 ? renderFirst() : renderPlaceholder(n));
    return (
      <li key={n} ref={n === 0 ? firstSlide : undefined} className={className}>
        {row ? renderRow(row) : pending}
      </li>
    );
  });
}) as <Row>(props: LaterPageProps<Row>) => ReactNode;
