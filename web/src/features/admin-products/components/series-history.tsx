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
  /** The dialog shows the history of this series; null closes the dialog. */
  series: Series | null;
  onClose(): void;
};

/** The history of a series: its texts, its works and their order. */
export function SeriesHistory({ series, onClose }: SeriesHistoryProps) {
  const t = useT();
  // The series in the dialog, which keeps its content while it fades out.
  const [shown, setShown] = useState(series);
  if (series !== null && series !== shown) setShown(series);
  const isOpen = series !== null;
  const pairs = usePairs(series?.id);
  const history = useHistory<SeriesBefore>("series", shown?.id ?? "", isOpen);
  // The current version, as far as it has loaded.
  const now = shown && pairs.data && { series: shown, pairs: pairs.data };
  const versions = now && history.data ? seriesVersions(history.data, now) : undefined;
  const titles = useWorkTitles(
    [...(versions?.map(({ row_before }) => row_before) ?? []), ...(now ? [now] : [])],
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
        now ? versionDifferences(row_before, now, (id) => titles.get(id) ?? "", t) : []
      }
      bringBack={async ({ row_before }) =>
        !!now && withToast(t("history.toast.back"), () => restore(now, row_before))
      }
    />
  );
}
