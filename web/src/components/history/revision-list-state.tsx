import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import { useT } from "@/lib/i18n";
import type { Revision } from "@/lib/types";

/** The query of a list of revisions. */
export type RevisionQuery<Before> = {
  data: Revision<Before>[] | undefined;
  isError: boolean;
  isFetching: boolean;
  refetch(): unknown;
};

type RevisionListStateProps<Before> = {
  query: RevisionQuery<Before>;
  /** The text of an empty list. */
  empty: string;
  children(revisions: Revision<Before>[]): ReactNode;
};

/** Renders the loading, error, empty or loaded state of the list in a dialog about revisions. */
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
