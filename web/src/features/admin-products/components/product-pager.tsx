import { Pager } from "@/components/ui/pager";
import { useT } from "@/lib/i18n";

type ProductPagerProps = { page: number; total: number; onPage(page: number): void };

/**
 * Says which works are on the current page of the table, with buttons to other pages. `total` is the number of works on all pages.
 * Pages are counted from 1.
 */
export function ProductPager({ page, total, onPage }: ProductPagerProps) {
  const t = useT();
  return (
    <Pager
      page={page}
      total={total}
      onPage={onPage}
      label={t("products.pages")}
      previousText={t("products.pageBefore")}
      nextText={t("products.pageAfter")}
    >
      {(from, to) => (
        <p role="status" className="text-ink2 lining-nums tabular-nums">
          {t("products.range", { from, to, total })}
        </p>
      )}
    </Pager>
  );
}
