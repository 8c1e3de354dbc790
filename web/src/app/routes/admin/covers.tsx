import { CoversPage } from "@/features/admin-covers/components/covers-page";

/** The route /admin/cover-images. */
export function CoversRoute() {
  return <CoversPage />;
}
