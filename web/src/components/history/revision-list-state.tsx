import { useEffect, useRef, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import { useT } from "@/lib/i18n";
import type { Revision } from "@/lib/types";

/**
 * The properties of a query for revisions that the list uses. A revision is an earlier version of a row, as the row was before a
 * change; `Before` is the type of that version.
 */
export type RevisionQuery<Before> = {
  data: Revision<Before>[] | undefined;
  isError: boolean;
  isFetching: boolean;
  refetch(): unknown;
  /** How many pages `data` has. */
  pages: number;
  /** Whether there are revisions older than those in `data`. */
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage(): unknown;
};

type RevisionListStateProps<Before> = {
  query: RevisionQuery<Before>;
  /** The text in place of an empty list. */
  empty: string;
  /** Renders a list that is not empty. */
  children(revisions: Revision<Before>[]): ReactNode;
};

/** Renders a list of revisions in a dialog, or a placeholder, an error or a text while there is no list to show. */
export function RevisionListState<Before>({
  query,
  empty,
  children,
}: RevisionListStateProps<Before>) {
  const t = useT();
  const { data, isError, isFetching, refetch } = query;
  if (data) {
    if (data.length > 0) {
      return (
        <>
          {children(data)}
          <OlderRevisions query={query} shown={data.length} />
        </>
      );
    }
    return <p className="border-ink mt-5 border-t-2 pt-5">{empty}</p>;
  }
  if (isError) {
    return (
      <div role="alert" className="border-ink mt-5 flex flex-col items-start gap-4 border-t-2 pt-5">
        <p>{t("history.loadError")}</p>
        <Button variant="outline" size="sm" loading={isFetching} onClick={() => void refetch()}>
          {t("common.retry")}
        </Button>
      </div>
    );
  }
  return (
    <div role="status" className="border-ink mt-5 border-t-2 pt-4">
      <span className="sr-only">{t("common.loading")}</span>
      <Skeleton className="h-5 w-2/5" />
      <Skeleton className="mt-3 h-4 w-1/4" />
    </div>
  );
}

/** The button that fetches older revisions. After the first click, a line below it says how many are shown. */
function OlderRevisions({ query, shown }: { query: RevisionQuery<unknown>; shown: number }) {
  const t = useT();
  const { pages, hasNextPage, isFetchingNextPage } = query;
  const countLine = useRef<HTMLParagraphElement>(null);
  // Loading the last page removes the focused button, so the line below gets the focus.
  useEffect(() => {
    if (pages > 1 && !hasNextPage) countLine.current?.focus();
  }, [pages, hasNextPage]);
  return (
    <>
      {hasNextPage && (
        <Button
          variant="outline"
          size="sm"
          className="mt-6"
          loading={isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t("activity.more")}
        </Button>
      )}
      {query.isFetchNextPageError && !isFetchingNextPage && (
        <p role="alert" className="mt-4">
          {t("history.loadError")}
        </p>
      )}
      <p ref={countLine} tabIndex={-1} role="status" className="text-ink2 mt-4 text-sm">
        {pages > 1 && t("activity.count", { n: shown })}
      </p>
    </>
  );
}
