import { Alert } from "@/components/ui/alert";
import { useDiskSpace } from "@/features/admin-dashboard/api/disk";
import { useT } from "@/lib/i18n";

/** Warns the owner when the server's disk is full or nearly full. */
export function DiskNotice() {
  const t = useT();
  const { data: disk } = useDiskSpace();
  if (disk !== "low" && disk !== "full") return null;
  return (
    <Alert
      title={t(disk === "full" ? "admin.diskFull" : "admin.diskLow")}
      className="mb-8 max-w-[40rem]"
    >
      {t(disk === "full" ? "admin.diskFullText" : "admin.diskLowText")}
    </Alert>
  );
}
