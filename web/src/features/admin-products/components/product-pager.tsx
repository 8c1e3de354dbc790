import { ChevronLeft, ChevronRight } from "lucide-react";
import { pageCount } from "@/features/admin-products/list-view";
import { Button } from "@/components/ui/button";
import { PRODUCTS_PER_PAGE } from "@/lib/constants";
import { useT } from "@/lib/i18n";

type ProductPagerProps = { page: number; total: number; onPage(page: number): void };

/** Which works are shown, out of how many, and the way to the others. Only the figure when all fit. */
export function ProductPager({ page, total, onPage }: ProductPagerProps) {
  const t = useT();
  const pages = pageCount(total);
  const from = (page - 1) * PRODUCTS_PER_PAGE + 1;
  const to = Math.min(page * PRODUCTS_PER_PAGE, total);
  return (
    <nav
      aria-label={t("products.pages")}
      className="mt-6 flex flex-wrap items-center justify-between gap-4"
    >
      <p role="status" className="text-ink2 lining-nums tabular-nums">
        {t("products.range", { from, to, total })}
      </p>
      {pages > 1 && (
        <div className="flex gap-2">
          <Button variant="outline" size="sm" disabled={page <= 1} onClick={() => onPage(page - 1)}>
            <ChevronLeft aria-hidden="true" size={20} strokeWidth={1.75} />
            {t("products.pageBefore")}
          </Button>
          <Button
            variant="outline"
            size="sm"
            disabled={page >= pages}
            onClick={() => onPage(page + 1)}
          >
            {t("products.pageAfter")}
            <ChevronRight aria-hidden="true" size={20} strokeWidth={1.75} />
          </Button>
        </div>
      )}
    </nav>
  );
}
