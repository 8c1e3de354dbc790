import type { ReactNode } from "react";
import {
  closestCenter,
  DndContext,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
  type DragEndEvent,
  type UniqueIdentifier,
} from "@dnd-kit/core";
import {
  rectSortingStrategy,
  SortableContext,
  sortableKeyboardCoordinates,
} from "@dnd-kit/sortable";
import { useCoverOrder } from "@/features/admin-covers/hooks/use-cover-order";
import { useT } from "@/lib/i18n";
import { sortAnnouncements } from "@/lib/sort-announcements";
import type { CoverImage } from "@/lib/types";

type CoverGridProps = {
  covers: CoverImage[];
  className: string;
  /** Renders the card of a cover. */
  renderCard(cover: CoverImage): ReactNode;
  /** Further items at the end, which cannot be moved. */
  children: ReactNode;
};

/** The cards in order. A card is moved by dragging its handle, or by keys on the handle. */
export function CoverGrid({ covers, className, renderCard, children }: CoverGridProps) {
  const t = useT();
  const { rows, move } = useCoverOrder(covers);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const indexOf = (id: UniqueIdentifier | undefined) => rows.findIndex((row) => row.id === id);

  /** The text for screen readers while the cover `active` is dragged over the cover `over`. */
  function moveText(active: UniqueIdentifier, over: UniqueIdentifier) {
    const name = rows[indexOf(active)]?.title || t("gallery.untitled");
    return t("reviews.moved", { name, n: indexOf(over) + 1, total: rows.length });
  }

  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragEnd={({ active, over }: DragEndEvent) => move(String(active.id), indexOf(over?.id))}
      accessibility={{
        announcements: sortAnnouncements(moveText),
        screenReaderInstructions: { draggable: t("covers.dragHelp") },
      }}
    >
      <SortableContext items={rows} strategy={rectSortingStrategy}>
        <ul className={className}>
          {rows.map(renderCard)}
          {children}
        </ul>
      </SortableContext>
    </DndContext>
  );
}
