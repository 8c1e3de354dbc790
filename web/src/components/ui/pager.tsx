import type { ReactNode } from "react";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { Button } from "@/components/ui/button";
import { LIST_PAGE_ROWS } from "@/lib/constants";
import { pageCount } from "@/lib/list-url";

type PagerProps = {
  /** Accessible name of the navigation. */
  label: string;
  /** The current page, from 1. */
  page: number;
  /** The number of rows on all pages. */
  total: number;
  onPage(page: number): void;
  /** Texts of the buttons to the previous and next page. */
  previousText: string;
  nextText: string;
  /** Renders the range of rows on this page; `from` and `to` count from 1. */
  children(from: number, to: number): ReactNode;
};

/** The range of rows on the current page of a list, with buttons to the previous and next page if there are several. */
export function Pager({
  label,
  page,
  total,
  onPage,
  previousText,
  nextText,
  children,
}: PagerProps) {
  const pages = pageCount(total);
  return (
    <nav aria-label={label} className="mt-6 flex flex-wrap items-center justify-between gap-4">
      {children((page - 1) * LIST_PAGE_ROWS + 1, Math.min(page * LIST_PAGE_ROWS, total))}
      {pages > 1 && (
        <div className="flex gap-2">
          <Button variant="outline" size="sm" disabled={page <= 1} onClick={() => onPage(page - 1)}>
            <ChevronLeft aria-hidden="true" size={20} strokeWidth={1.75} />
            {previousText}
          </Button>
          <Button
            variant="outline"
            size="sm"
            disabled={page >= pages}
            onClick={() => onPage(page + 1)}
          >
            {nextText}
            <ChevronRight aria-hidden="true" size={20} strokeWidth={1.75} />
          </Button>
        </div>
      )}
    </nav>
  );
}
