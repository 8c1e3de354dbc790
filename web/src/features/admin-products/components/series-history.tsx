import { useState } from "react";
import { usePairs } from "@/features/admin-products/api/series";
import { useRestoreVersion, useWorkTitles } from "@/features/admin-products/api/series-history";
import {
  seriesVersions,
  versionDifferences,
  type SeriesBefore,
} from "@/features/admin-products/series-versions";
import { HistoryDialog } from "@/components/history/history-dialog";
import { useHistory } from "@/lib/history/revisions";
import { useBringBackToast } from "@/lib/history/use-bring-back";
import { useT } from "@/lib/i18n";
import type { Series } from "@/lib/types";

type SeriesHistoryProps = {
  /** The series whose history the dialog shows. Null closes the dialog. */
  series: Series | null;
  onClose(): void;
};

/**
 * The dialog with the history of a series (works that the owner shows together). It lists earlier versions: the texts of the series,
 * its works and their order. The owner can restore a version; shared components call this "bring back".
 */
export function SeriesHistory({ series, onClose }: SeriesHistoryProps) {
  const t = useT();
  // The series that the dialog shows. It stays the same while the dialog fades out.
  const [shown, setShown] = useState(series);
  if (series !== null && series !== shown) setShown(series);
  const isOpen = series !== null;
  // The pairs (rows of series_works) of the series. Not fetched while the dialog fades out.
  const pairs = usePairs(series?.id);
  const history = useHistory<SeriesBefore>("series", shown?.id ?? "", isOpen);
  // The current version. Not set until the pairs have loaded.
  const current = shown && pairs.data && { series: shown, pairs: pairs.data };
  const versions = current && history.data ? seriesVersions(history.data, current) : undefined;
  const titles = useWorkTitles(
    [...(versions?.map(({ row_before }) => row_before) ?? []), ...(current ? [current] : [])],
    isOpen,
  );
  const withToast = useBringBackToast();
  const restore = useRestoreVersion();
  return (
    <HistoryDialog
      open={isOpen}
      onClose={onClose}
      title={t("history.ofNamed", { name: shown?.title ?? "" })}
      query={{
        ...history,
        data: versions,
        isError: history.isError || pairs.isError,
        isFetching: history.isFetching || pairs.isFetching,
        refetch: () => Promise.all([history.refetch(), pairs.refetch()]),
      }}
      differences={({ row_before }) =>
        current ? versionDifferences(row_before, current, (id) => titles.get(id) ?? "", t) : []
      }
      bringBack={async ({ row_before }) =>
        !!current && withToast(t("history.toast.back"), () => restore(current, row_before))
      }
    />
  );
}
