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
import { useBringBack } from "@/lib/history/use-bring-back";
import { useT } from "@/lib/i18n";
import type { Series } from "@/lib/types";

/**
 * The admin page of series (works that the owner shows together). It shows the list of series. If the URL has ?works= with the id of a
 * series, it shows the works of this series.
 */
export function SeriesPage() {
  const t = useT();
  const series = useSeriesList();
  const [search, setSearch] = useSearchParams();
  const openId = search.get("works");
  const openSeries = series.data?.find(({ id }) => id === openId);
  const openWorks = (id: string) => setSearch({ works: id });

  if (openSeries)
    return <SeriesWorks key={openSeries.id} series={openSeries} onCreated={openWorks} />;
  // Until it is known which page is shown, the list must not mount: its dialog would take the draft of the dialog of SeriesWorks.
  if (openId && !series.data)
    return (
      <AdminPage title={t("nav.series")}>
        <AdminListState query={series} empty={t("series.empty")}>
          {() => null}
        </AdminListState>
      </AdminPage>
    );
  return <SeriesListPage series={series} onCreated={openWorks} />;
}

type SeriesListPageProps = {
  series: ReturnType<typeof useSeriesList>;
  /** Called with the id of a new series. */
  onCreated(id: string): void;
};

/** The page with the list of series. */
function SeriesListPage({ series, onCreated }: SeriesListPageProps) {
  const t = useT();
  const dialog = useDraftDialog("series", initialSeriesState(null));
  const { remove } = useChangeSeries();
  const { undoDeletion } = useBringBack("series");
  // The series whose deletion the owner is asked to confirm; null while the question is closed.
  const [deleting, setDeleting] = useState<Series | null>(null);
  // The id of the series whose history is open; "" if no history is open.
  const [historyId, setHistoryId] = useState("");

  const addButton = (
    <Button onClick={() => dialog.open(initialSeriesState(null))}>
      <Plus aria-hidden="true" size={20} strokeWidth={1.75} />
      {t("series.add")}
    </Button>
  );
  return (
    <AdminPage title={t("nav.series")} action={addButton}>
      <AdminListState query={series} empty={t("series.empty")} emptyAction={addButton}>
        {(rows) => (
          <SeriesList
            series={rows}
            onEdit={(one) => dialog.open(initialSeriesState(one))}
            onHistory={({ id }) => setHistoryId(id)}
            onDelete={setDeleting}
          />
        )}
      </AdminListState>
      <RecentlyDeleted table="series" nameOf={({ title }) => title} />
      <SeriesHistory
        series={series.data?.find(({ id }) => id === historyId) ?? null}
        onClose={() => setHistoryId("")}
      />
      {/* `round` changes each time the dialog opens, so that it has a new form. */}
      <SeriesDialog key={dialog.round} {...dialog.dialog} onCreated={onCreated} />
      <DeleteDialog
        item={deleting}
        title={t("series.deleteTitle")}
        question={t("series.deleteConfirm")}
        deleted={t("series.toast.deleted")}
        failedTitle={t("series.toast.failed")}
        remove={({ id }) => remove(id)}
        undo={({ title, id }) => undoDeletion(title, id)}
        onClose={() => setDeleting(null)}
      />
    </AdminPage>
  );
}
