import { useState } from "react";
import { usePairs } from "@/features/admin-products/api/series";
import {
  useRestoreSeriesVersion,
  useWorkTitles,
} from "@/features/admin-products/api/series-history";
import {
  seriesVersions,
  versionDifferences,
  type SeriesBefore,
} from "@/features/admin-products/series-versions";
import { HistoryDialog } from "@/components/history/history-dialog";
import { useHistory } from "@/lib/history/revisions";
import { useRestoreToast } from "@/lib/history/use-restore-version";
import { useT } from "@/lib/i18n";
import type { Series } from "@/lib/types";

type SeriesHistoryProps = {
  /** The series whose history the dialog shows. Null closes the dialog. */
  series: Series | null;
  onClose(): void;
};

/**
 * The dialog with the history of a series (works that the owner shows together). It lists earlier versions: the texts of the series,
 * its works and their order. The owner can restore a version.
 */
export function SeriesHistory({ series, onClose }: SeriesHistoryProps) {
  const t = useT();
  // The series that the dialog shows. It stays while the dialog fades out, when `series` is already null.
  const [shownSeries, setShownSeries] = useState(series);
  if (series !== null && series !== shownSeries) setShownSeries(series);
  const isOpen = series !== null;
  // The pairs (rows of series_works) of the series. They are not fetched while the dialog fades out.
  const pairsQuery = usePairs(series?.id);
  const historyQuery = useHistory<SeriesBefore>("series", shownSeries?.id ?? "", isOpen);
  // The current version; undefined until the pairs have loaded.
  const current = shownSeries && pairsQuery.data && { series: shownSeries, pairs: pairsQuery.data };
  const versions =
    current && historyQuery.data ? seriesVersions(historyQuery.data, current) : undefined;
  const titles = useWorkTitles(
    [...(versions?.map(({ row_before }) => row_before) ?? []), ...(current ? [current] : [])],
    isOpen,
  );
  const restoreWithToast = useRestoreToast();
  const restoreVersion = useRestoreSeriesVersion();
  return (
    <HistoryDialog
      open={isOpen}
      onClose={onClose}
      title={t("history.ofNamed", { name: shownSeries?.title ?? "" })}
      query={{
        ...historyQuery,
        data: versions,
        isError: historyQuery.isError || pairsQuery.isError,
        isFetching: historyQuery.isFetching || pairsQuery.isFetching,
        refetch: () => Promise.all([historyQuery.refetch(), pairsQuery.refetch()]),
      }}
      differences={({ row_before }) =>
        current ? versionDifferences(row_before, current, (id) => titles.get(id) ?? "", t) : []
      }
      restore={async ({ row_before }) =>
        !!current &&
        restoreWithToast(t("history.toast.back"), () => restoreVersion(current, row_before))
      }
    />
  );
}
