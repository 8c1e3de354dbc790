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
import { SortableContext, sortableKeyboardCoordinates, useSortable } from "@dnd-kit/sortable";
import { CSS } from "@dnd-kit/utilities";
import {
  ArrowDown,
  ArrowUp,
  GripVertical,
  History,
  ImageOff,
  Images,
  Pencil,
  Trash2,
} from "lucide-react";
import { useSeriesOrder } from "@/features/admin-products/hooks/use-series-order";
import { Picture } from "@/components/media/picture";
import { Badge } from "@/components/ui/badge";
import { buttonClasses } from "@/components/ui/button-classes";
import { IconButton } from "@/components/ui/icon-button";
import { Link } from "@/components/ui/link";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";
import { imageInfo } from "@/lib/media";
import { sortAnnouncements } from "@/lib/sort-announcements";
import type { Series } from "@/lib/types";

type SeriesActions = {
  onEdit(series: Series): void;
  onHistory(series: Series): void;
  onDelete(series: Series): void;
};

// The other rows keep their places during a drag. A line shows the place to which the dragged row would move.
const keepInPlace = () => null;
const iconProps = { "aria-hidden": true, size: 21, strokeWidth: 1.5 } as const;

/** The series in order. The owner reorders them by dragging, by keys on the drag handle, or by arrow buttons. */
export function SeriesList({ series, ...actions }: { series: Series[] } & SeriesActions) {
  const t = useT();
  const { rows, move, announcement } = useSeriesOrder(series);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const indexOf = (id: UniqueIdentifier | undefined) => rows.findIndex((row) => row.id === id);

  /** The text for screen readers while the row `active` is dragged over the row `over`. */
  function moveText(active: UniqueIdentifier, over: UniqueIdentifier) {
    const title = rows[indexOf(active)]?.title;
    const n = indexOf(over) + 1;
    return title && n > 0 ? t("series.moved", { title, n, total: rows.length }) : undefined;
  }

  function onDragEnd({ active, over }: DragEndEvent) {
    const to = indexOf(over?.id);
    if (to >= 0) move(String(active.id), to);
  }

  return (
    <>
      <p className="text-ink2 max-w-[60em] md:-mt-1.5">{t("series.intro")}</p>
      <DndContext
        sensors={sensors}
        collisionDetection={closestCenter}
        onDragEnd={onDragEnd}
        accessibility={{
          announcements: sortAnnouncements(moveText),
          screenReaderInstructions: { draggable: t("series.dragHelp") },
        }}
      >
        <SortableContext items={rows} strategy={keepInPlace}>
          <ol className="border-ink mt-4 border-t-2">
            {rows.map((one, index) => (
              <SeriesRow
                key={one.id}
                series={one}
                index={index}
                total={rows.length}
                onMove={(to) => move(one.id, to)}
                {...actions}
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

type SeriesRowProps = SeriesActions & {
  series: Series;
  index: number;
  total: number;
  onMove(to: number): void;
};

function SeriesRow({ series, index, total, onMove, onEdit, onHistory, onDelete }: SeriesRowProps) {
  const t = useT();
  const {
    setNodeRef,
    setActivatorNodeRef,
    attributes,
    listeners,
    transform,
    isDragging,
    isOver,
    activeIndex,
  } = useSortable({ id: series.id });
  const { title } = series;
  const isDropTarget = isOver && !isDragging;
  return (
    <li
      ref={setNodeRef}
      style={{ transform: CSS.Translate.toString(transform) }}
      className={cn(
        "border-line relative -mx-[15px] grid grid-cols-[44px_72px_minmax(0,1fr)] items-center gap-x-2.5 gap-y-2 px-[15px] py-[15px] lg:grid-cols-[44px_72px_minmax(0,1fr)_auto] lg:gap-x-5",
        // The bottom line has the width of the content, which is 15 px narrower than the row on each side.
        "after:bg-line after:absolute after:inset-x-[15px] after:bottom-0 after:h-px",
        isDragging &&
          "bg-pop pop-shadow outline-indigo z-10 outline-3 -outline-offset-3 after:hidden",
        isDropTarget &&
          "before:bg-indigo before:absolute before:inset-x-[15px] before:z-10 before:h-[3px]",
        isDropTarget && (activeIndex > index ? "before:-top-0.5" : "before:-bottom-px"),
      )}
    >
      <button
        type="button"
        ref={setActivatorNodeRef}
        {...attributes}
        {...listeners}
        aria-label={t("series.drag", { title })}
        title={t("series.drag", { title })}
        className="grid h-12 w-11 cursor-grab touch-none place-items-center rounded-sm active:cursor-grabbing"
      >
        <GripVertical aria-hidden="true" size={22} strokeWidth={1} className="text-ink2" />
      </button>
      <span className="bg-shade grid size-[72px] place-items-center p-1">
        {series.image_url ? (
          <Picture
            src={series.image_url}
            alt=""
            info={imageInfo(series, series.image_url)}
            sizes={[["", "64px"]]}
            className="max-h-16 max-w-full object-contain"
          />
        ) : (
          <ImageOff {...iconProps} className="text-ink2" />
        )}
      </span>
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2.5 leading-[1.4] font-[570] wrap-anywhere">
          {title}
          {!series.is_published && (
            <Badge tone="neutral" className="font-[430]">
              {t("series.hidden")}
            </Badge>
          )}
        </p>
        <p className="text-ink2 text-sm wrap-anywhere">/gallery/all?series={series.slug}</p>
      </div>
      <div className="col-span-3 flex flex-wrap items-center justify-end lg:col-span-1 lg:gap-0.5">
        <Link
          to={`/admin/series?works=${series.id}`}
          aria-label={t("series.worksOf", { title })}
          className={buttonClasses({
            variant: "outline",
            size: "sm",
            className: "mr-auto lg:mr-4",
          })}
        >
          <Images {...iconProps} />
          {t("series.works")}
        </Link>
        <IconButton
          size="iconSm"
          variant="ghost"
          className="aria-disabled:text-edge aria-disabled:cursor-default aria-disabled:bg-transparent"
          label={t("series.up", { title })}
          aria-disabled={index === 0 || undefined}
          onClick={() => onMove(index - 1)}
        >
          <ArrowUp {...iconProps} />
        </IconButton>
        <IconButton
          size="iconSm"
          variant="ghost"
          className="aria-disabled:text-edge aria-disabled:cursor-default aria-disabled:bg-transparent"
          label={t("series.down", { title })}
          aria-disabled={index === total - 1 || undefined}
          onClick={() => onMove(index + 1)}
        >
          <ArrowDown {...iconProps} />
        </IconButton>
        <IconButton
          size="iconSm"
          variant="ghost"
          label={t("series.editNamed", { title })}
          onClick={() => onEdit(series)}
        >
          <Pencil {...iconProps} />
        </IconButton>
        <IconButton
          size="iconSm"
          variant="ghost"
          label={t("history.ofNamed", { name: title })}
          onClick={() => onHistory(series)}
        >
          <History {...iconProps} />
        </IconButton>
        <IconButton
          size="iconSm"
          variant="ghost"
          label={t("series.deleteNamed", { title })}
          onClick={() => onDelete(series)}
        >
          <Trash2 {...iconProps} />
        </IconButton>
      </div>
    </li>
  );
}
