import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import { useT } from "@/lib/i18n";
import type { Revision } from "@/lib/types";

/** The parts of the query for revisions that the list needs. `Before` is the type of an earlier version. */
export type RevisionQuery<Before> = {
  data: Revision<Before>[] | undefined;
  isError: boolean;
  isFetching: boolean;
  refetch(): unknown;
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
    if (data.length > 0) return children(data);
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
