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
import { SortableContext, sortableKeyboardCoordinates } from "@dnd-kit/sortable";
import { ReviewRow } from "@/features/admin-reviews/components/review-row";
import { useReviewOrder } from "@/features/admin-reviews/hooks/use-review-order";
import { useT } from "@/lib/i18n";
import { sortAnnouncements } from "@/lib/sort-announcements";
import type { Review } from "@/lib/types";

type ReviewListProps = {
  reviews: Review[];
  onEdit(review: Review): void;
  onHistory(review: Review): void;
  onDelete(review: Review): void;
};

// During a drag the other rows do not move aside. A line shows where the dragged row would be dropped.
const keepInPlace = () => null;

/** The reviews in order. The owner reorders rows by dragging, by keys on the drag handle, or by arrow buttons. */
export function ReviewList({ reviews, onEdit, onHistory, onDelete }: ReviewListProps) {
  const t = useT();
  const { rows, move, announcement } = useReviewOrder(reviews);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );

  const indexOf = (id: UniqueIdentifier | undefined) => rows.findIndex((row) => row.id === id);

  /** The text for screen readers while the row `active` is dragged over the row `over`. */
  function moveText(active: UniqueIdentifier, over: UniqueIdentifier) {
    const name = rows[indexOf(active)]?.client_name;
    const n = indexOf(over) + 1;
    return name && n > 0 ? t("reviews.moved", { name, n, total: rows.length }) : undefined;
  }

  function onDragEnd({ active, over }: DragEndEvent) {
    const to = indexOf(over?.id);
    if (to >= 0) move(String(active.id), to);
  }

  return (
    <>
      <p className="text-ink2 max-w-[60em] md:-mt-1.5">{t("reviews.intro")}</p>
      <DndContext
        sensors={sensors}
        collisionDetection={closestCenter}
        onDragEnd={onDragEnd}
        accessibility={{
          announcements: sortAnnouncements(moveText),
          screenReaderInstructions: { draggable: t("reviews.dragHelp") },
        }}
      >
        <SortableContext items={rows} strategy={keepInPlace}>
          <ol className="border-ink mt-4 border-t-2">
            {rows.map((review, index) => (
              <ReviewRow
                key={review.id}
                review={review}
                index={index}
                total={rows.length}
                onMove={(to) => move(review.id, to)}
                onEdit={() => onEdit(review)}
                onHistory={() => onHistory(review)}
                onDelete={() => onDelete(review)}
              />
            ))}
          </ol>
        </SortableContext>
      </DndContext>
      <p role="status" className="sr-only">
        {announcement}
      </p>
    </>
  );
}
