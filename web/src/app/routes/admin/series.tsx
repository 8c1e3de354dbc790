import { SeriesPage } from "@/features/admin-products/components/series-page";

/** The route /admin/series. */
export function SeriesRoute() {
  return <SeriesPage />;
}
