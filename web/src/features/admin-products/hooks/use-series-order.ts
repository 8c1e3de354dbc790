import { useChangeSeries } from "@/features/admin-products/api/series";
import { useRowOrder } from "@/lib/editing/use-row-order";
import { useT } from "@/lib/i18n";
import type { Series } from "@/lib/types";

/**
 * Lets the owner order the series (works that the owner shows together). Returns:
 *  - `rows`: the series in the order that the owner has chosen
 *  - `move`: moves a series to an index, and saves the new order
 *  - `announcement`: the text about the last move, for screen readers
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
