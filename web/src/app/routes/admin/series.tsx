import { SeriesPage } from "@/features/admin-products/components/series-page";

/** The route /admin/series: the page for the series (works that the owner shows together). */
export function SeriesRoute() {
  return <SeriesPage />;
}
