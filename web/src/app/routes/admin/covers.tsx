import { CoversPage } from "@/features/admin-covers/components/covers-page";

/** The route /admin/cover-images: the page for the covers (the large pictures and videos at the top of the home page). */
export function CoversRoute() {
  return <CoversPage />;
}
