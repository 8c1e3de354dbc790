import { Pager } from "@/components/ui/pager";
import { useT } from "@/lib/i18n";
import { pageCount } from "@/lib/list-url";

type MessagePagerProps = { page: number; total: number; onPage(page: number): void };

/**
 * Says which messages are on the current page of a list, with buttons to newer and older ones. `total` is the number of messages on
 * all pages. Renders nothing if there is only one page.
 */
export function MessagePager({ page, total, onPage }: MessagePagerProps) {
  const t = useT();
  if (pageCount(total) === 1) return null;
  return (
    <Pager
      {...{ page, total, onPage }}
      label={t("messages.pages")}
      previousText={t("messages.newer")}
      nextText={t("messages.older")}
    >
      {(from, to) => (
        <p className="text-ink2 tabular-nums">{t("messages.range", { from, to, total })}</p>
      )}
    </Pager>
  );
}
