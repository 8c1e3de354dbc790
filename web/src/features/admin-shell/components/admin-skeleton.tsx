import { PageShell } from "@/components/layout/page-shell";
import { Skeleton } from "@/components/ui/skeleton";
import { useT } from "@/lib/i18n";

/** The placeholder of an admin page until session and role are known. */
export function AdminSkeleton() {
  const t = useT();
  return (
    <PageShell foot="thin">
      <div className="page-container">
        <div className="border-line flex h-[53px] items-center gap-8 overflow-hidden border-b">
          {["w-20", "w-20", "w-28", "w-20", "w-24"].map((width, index) => (
            <Skeleton key={index} className={`h-4 flex-none ${width}`} />
          ))}
        </div>
        <Skeleton className="mt-12 h-12 w-60" />
        <p role="status" className="text-ink2 mt-6">
          {t("common.loading")}
        </p>
      </div>
    </PageShell>
  );
}
