import { useChangeSeries } from "@/features/admin-products/api/series";
import { useRowOrder } from "@/lib/editing/use-row-order";
import { useT } from "@/lib/i18n";
import type { Series } from "@/lib/types";

/**
 * Returns the series (works that the owner shows together) in the order that the owner has chosen, and a function that moves a series
 * and saves the new order.
 */
export function useSeriesOrder(series: Series[]) {
  const t = useT();
  const { move } = useChangeSeries();
  return useRowOrder(series, move, {
    moved: (place) => t("series.moved", place),
    ordered: t("series.toast.ordered"),
    failed: t("series.toast.failed"),
  });
}
