import { useChangeSeries } from "@/features/admin-products/api/series";
import { useRowOrder } from "@/lib/editing/use-row-order";
import { useT } from "@/lib/i18n";
import type { Series } from "@/lib/types";

/** The series in the order that the owner has chosen, with a function that moves a series. */
export function useSeriesOrder(series: Series[]) {
  const t = useT();
  const { move } = useChangeSeries();
  return useRowOrder(series, move, {
    moved: (place) => t("series.moved", place),
    ordered: t("series.toast.ordered"),
    failed: t("series.toast.failed"),
  });
}
