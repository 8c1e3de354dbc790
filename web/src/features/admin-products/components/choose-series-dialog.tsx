import { useQuery } from "@tanstack/react-query";
import { useChangeSeries, useSeriesList } from "@/features/admin-products/api/series";
import { AdminListState } from "@/components/layout/admin-list-state";
import { Button } from "@/components/ui/button";
import { DialogClose, DialogContent, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { TextLink } from "@/components/ui/text-link";
import { errorToast } from "@/lib/error-toast";
import { useOwnerBackend } from "@/lib/backend";
import { useUndo } from "@/lib/editing/use-undo";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";

type ChooseSeriesDialogProps = {
  open: boolean;
  /** The ids of the selected works, in the order of the list. */
  workIds: readonly string[];
  onClose(): void;
};

/**
 * A dialog that lists all series (works that the owner shows together). Buttons at each series add the selected works to it, or remove
 * them from it.
 */
export function ChooseSeriesDialog({ open, workIds, onClose }: ChooseSeriesDialogProps) {
  const t = useT();
  return (
    <DialogRoot open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <DialogContent className="max-w-[560px] p-6 sm:p-8">
        <DialogTitle className="pr-12 text-[1.75rem] leading-tight font-[310]">
          {t("series.chooseTitle")}
        </DialogTitle>
        {open && <SeriesChoices workIds={workIds} />}
        <DialogClose className="top-2.5 right-2" />
      </DialogContent>
    </DialogRoot>
  );
}

/** The list of the series with their buttons. */
function SeriesChoices({ workIds }: { workIds: readonly string[] }) {
  const t = useT();
  const seriesQuery = useSeriesList();
  const countsQuery = useCounts(workIds);
  const undoButton = useUndo();
  const changeSeries = useChangeSeries();
  const showFailure = () => errorToast(t, t("wall.failed"));

  function add(id: string) {
    changeSeries.add(id, workIds).then(
      (added) =>
        stackedToast({
          title: t("series.toast.worksAdded", { n: added.length }),
          action: undoButton(() => changeSeries.removePairs(added)),
        }),
      showFailure,
    );
  }
  function remove(id: string) {
    changeSeries.removeWorks(id, workIds).then(
      (removed) =>
        stackedToast({
          title: t("series.toast.removed", { n: removed.length }),
          action: undoButton(() => changeSeries.restorePairs(removed)),
        }),
      showFailure,
    );
  }

  return (
    <div className="mt-5">
      <AdminListState
        query={seriesQuery}
        empty={t("series.empty")}
        emptyAction={<TextLink to="/admin/series">{t("nav.series")}</TextLink>}
      >
        {(rows) => (
          <ul className="border-ink border-t-2">
            {rows.map(({ id, title }) => {
              const n = countsQuery.data?.get(id) ?? 0;
              return (
                <li
                  key={id}
                  className="border-line flex flex-wrap items-center justify-end gap-x-3 gap-y-2 border-b py-2.5"
                >
                  <span className="min-w-0 flex-1 basis-40 wrap-anywhere">
                    {title}
                    <span className="text-ink2 block text-sm">
                      {t("series.countIn", { n, of: workIds.length })}
                    </span>
                  </span>
                  <span className="flex items-center gap-2">
                    {n > 0 && (
                      <Button
                        size="sm"
                        variant="ghost"
                        aria-label={t("series.removeFrom", { title })}
                        onClick={() => remove(id)}
                      >
                        {t("series.takeOut")}
                      </Button>
                    )}
                    {n < workIds.length && (
                      <Button
                        size="sm"
                        variant="outline"
                        aria-label={t("series.addTo", { title })}
                        onClick={() => add(id)}
                      >
                        {t("series.putIn")}
                      </Button>
                    )}
                  </span>
                </li>
              );
            })}
          </ul>
        )}
      </AdminListState>
    </div>
  );
}

/** Fetches how many of the works are in each series, by the id of the series. */
function useCounts(workIds: readonly string[]) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: ["series_works", "counts", workIds],
    queryFn: async ({ signal }) => {
      const { data, error } = await backend
        .from("series_works")
        .select("series_id")
        .in("product_id", [...workIds])
        .abortSignal(signal);
      if (error) throw error;
      const counts = new Map<string, number>();
      for (const { series_id } of data) counts.set(series_id, (counts.get(series_id) ?? 0) + 1);
      return counts;
    },
  });
}
