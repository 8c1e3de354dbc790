import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import { useT } from "@/lib/i18n";

type AdminListStateProps<Row> = {
  /** The query of the list; `data` is undefined until its rows have loaded. */
  query: { data: Row[] | undefined; isError: boolean; isFetching: boolean; refetch(): unknown };
  /** The text of an empty list. */
  empty: string;
  /** A button or link below that text, such as one that adds the first row. */
  emptyAction?: ReactNode;
  /** Whether to render the children although there are no rows, for example while the first upload runs. */
  notEmpty?: boolean;
  /** The placeholder while the list loads. By default it has rows with a picture and two lines. */
  skeleton?: ReactNode;
  /** Renders the loaded rows. */
  children(rows: Row[]): ReactNode;
};

/** Renders the loading, error, empty or loaded state of a list of the admin area. */
export function AdminListState<Row>({
  query,
  empty,
  emptyAction,
  notEmpty = false,
  skeleton = <SkeletonRows />,
  children,
}: AdminListStateProps<Row>) {
  const t = useT();
  const { data, isError, isFetching, refetch } = query;
  if (data) {
    if (data.length > 0 || notEmpty) return children(data);
    return (
      <div className="border-ink flex flex-col items-start gap-6 border-t-2 pt-6">
        <p className="text-lead max-w-[33em]">{empty}</p>
        {emptyAction}
      </div>
    );
  }
  if (isError) {
    return (
      <div role="alert" className="border-ink flex flex-col items-start gap-6 border-t-2 pt-6">
        <p className="text-lead">{t("common.loadError")}</p>
        <Button variant="outline" loading={isFetching} onClick={() => void refetch()}>
          {t("common.retry")}
        </Button>
      </div>
    );
  }
  return (
    <div role="status">
      <span className="sr-only">{t("common.loading")}</span>
      {skeleton}
    </div>
  );
}

/** The default placeholder: rows with a picture and two lines. */
function SkeletonRows() {
  return (
    <div className="border-ink border-t-2">
      {[0, 1, 2, 3].map((row) => (
        <div key={row} className="border-line flex items-center gap-5 border-b py-3">
          <Skeleton className="size-[60px] flex-none" />
          <div className="flex-1">
            <Skeleton className="h-4 w-1/3" />
            <Skeleton className="mt-2.5 h-3.5 w-1/5" />
          </div>
        </div>
      ))}
    </div>
  );
}
