import { CoversPage } from "@/features/admin-covers/components/covers-page";

export function CoversRoute() {
  return <CoversPage />;
}
