import { ChevronLeft, ChevronRight } from "lucide-react";
import { pageCount } from "@/features/admin-messages/message-view";
import { Button } from "@/components/ui/button";
import { MESSAGES_PER_PAGE } from "@/lib/constants";
import { useT } from "@/lib/i18n";

type MessagePagerProps = { page: number; total: number; onPage(page: number): void };

/** Which messages are shown, out of how many, and the way to the others. Nothing when all fit. */
export function MessagePager({ page, total, onPage }: MessagePagerProps) {
  const t = useT();
  const pages = pageCount(total);
  if (pages === 1) return null;
  const from = (page - 1) * MESSAGES_PER_PAGE + 1;
  const to = Math.min(page * MESSAGES_PER_PAGE, total);
  return (
    <nav
      aria-label={t("messages.pages")}
      className="mt-6 flex flex-wrap items-center justify-between gap-4"
    >
      <p className="text-ink2 tabular-nums">{t("messages.range", { from, to, total })}</p>
      <div className="flex gap-2">
        <Button variant="outline" size="sm" disabled={page <= 1} onClick={() => onPage(page - 1)}>
          <ChevronLeft aria-hidden="true" size={20} strokeWidth={1.75} />
          {t("messages.newer")}
        </Button>
        <Button
          variant="outline"
          size="sm"
          disabled={page >= pages}
          onClick={() => onPage(page + 1)}
        >
          {t("messages.older")}
          <ChevronRight aria-hidden="true" size={20} strokeWidth={1.75} />
        </Button>
      </div>
    </nav>
  );
}
