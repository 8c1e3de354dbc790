import { useState } from "react";
import { Plus } from "lucide-react";
import { useSearchParams } from "react-router";
import { useChangeSeries, useSeriesList } from "@/features/admin-products/api/series";
import { SeriesDialog } from "@/features/admin-products/components/series-dialog";
import { SeriesHistory } from "@/features/admin-products/components/series-history";
import { SeriesList } from "@/features/admin-products/components/series-list";
import { SeriesWorks } from "@/features/admin-products/components/series-works";
import { initialSeriesState } from "@/features/admin-products/series-schema";
import { RecentlyDeleted } from "@/components/history/recently-deleted";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { DeleteDialog } from "@/components/ui/delete-dialog";
import { useDraftDialog } from "@/lib/editing/use-draft-dialog";
import { useRestoreVersion } from "@/lib/history/use-restore-version";
import { useT } from "@/lib/i18n";
import type { Series } from "@/lib/types";

/**
 * The admin page of series (works that the owner shows together). It shows the list of series. If the URL has ?works= with the id of a
 * series, it shows the works of this series.
 */
export function SeriesPage() {
  const t = useT();
  const seriesQuery = useSeriesList();
  const [search, setSearch] = useSearchParams();
  const openId = search.get("works");
  const openSeries = seriesQuery.data?.find(({ id }) => id === openId);
  const openWorks = (id: string) => setSearch({ works: id });

  if (openSeries)
    return <SeriesWorks key={openSeries.id} series={openSeries} onCreated={openWorks} />;
  // While the series load, it is not known which page to show. The list must not mount yet, because its dialog would take the draft
  // that belongs to the dialog of SeriesWorks.
  if (openId && !seriesQuery.data)
    return (
      <AdminPage title={t("nav.series")}>
        <AdminListState query={seriesQuery} empty={t("series.empty")}>
          {() => null}
        </AdminListState>
      </AdminPage>
    );
  return <SeriesListPage seriesQuery={seriesQuery} onCreated={openWorks} />;
}

type SeriesListPageProps = {
  seriesQuery: ReturnType<typeof useSeriesList>;
  /** Called with the id of a new series. */
  onCreated(id: string): void;
};

/** The page with the list of series. */
function SeriesListPage({ seriesQuery, onCreated }: SeriesListPageProps) {
  const t = useT();
  const seriesDialog = useDraftDialog("series", initialSeriesState(null));
  const { remove } = useChangeSeries();
  const { undoDeletion } = useRestoreVersion("series");
  // The series whose deletion the owner is asked to confirm; null while the question is closed.
  const [seriesToDelete, setSeriesToDelete] = useState<Series | null>(null);
  // The id of the series whose history is open; "" if no history is open.
  const [historyId, setHistoryId] = useState("");

  const addButton = (
    <Button onClick={() => seriesDialog.open(initialSeriesState(null))}>
      <Plus aria-hidden="true" size={20} strokeWidth={1.75} />
      {t("series.add")}
    </Button>
  );
  return (
    <AdminPage title={t("nav.series")} action={addButton}>
      <AdminListState query={seriesQuery} empty={t("series.empty")} emptyAction={addButton}>
        {(rows) => (
          <SeriesList
            series={rows}
            onEdit={(series) => seriesDialog.open(initialSeriesState(series))}
            onHistory={({ id }) => setHistoryId(id)}
            onDelete={setSeriesToDelete}
          />
        )}
      </AdminListState>
      <RecentlyDeleted table="series" nameOf={({ title }) => title} />
      <SeriesHistory
        series={seriesQuery.data?.find(({ id }) => id === historyId) ?? null}
        onClose={() => setHistoryId("")}
      />
      {/* `round` changes each time the dialog opens, so that it has a new form. */}
      <SeriesDialog key={seriesDialog.round} {...seriesDialog.dialog} onCreated={onCreated} />
      <DeleteDialog
        item={seriesToDelete}
        title={t("series.deleteTitle")}
        question={t("series.deleteConfirm")}
        deleted={t("series.toast.deleted")}
        failedTitle={t("series.toast.failed")}
        remove={({ id }) => remove(id)}
        undo={({ title, id }) => undoDeletion(title, id)}
        onClose={() => setSeriesToDelete(null)}
      />
    </AdminPage>
  );
}
