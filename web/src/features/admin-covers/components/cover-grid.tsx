import type { ReactNode } from "react";
import { rectSortingStrategy } from "@dnd-kit/sortable";
import { useCoverOrder } from "@/features/admin-covers/hooks/use-cover-order";
import { SortableArea } from "@/components/ui/sortable";
import { useT } from "@/lib/i18n";
import type { CoverImage } from "@/lib/types";

type CoverGridProps = {
  covers: CoverImage[];
  className: string;
  /** Renders the card of a cover. */
  renderCard(cover: CoverImage): ReactNode;
  /** Further items at the end, which cannot be moved. */
  children: ReactNode;
};

/**
 * The cards of the covers (the large pictures and videos at the top of the home page) in order. The owner moves a card by dragging
 * its handle, or by pressing keys on the handle.
 */
export function CoverGrid({ covers, className, renderCard, children }: CoverGridProps) {
  const t = useT();
  const { rows, move } = useCoverOrder(covers);
  return (
    <SortableArea
      rows={rows}
      move={move}
      movedText={({ title }, n) =>
        // The text is "{name}: position {n} of {total}", so it serves covers too.
        t("reviews.moved", { name: title || t("gallery.untitled"), n, total: rows.length })
      }
      dragHelp={t("covers.dragHelp")}
      strategy={rectSortingStrategy}
    >
      <ul className={className}>
        {rows.map(renderCard)}
        {children}
      </ul>
    </SortableArea>
  );
}
