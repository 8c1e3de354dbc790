import type { ReactNode } from "react";
import {
  closestCenter,
  DndContext,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
  type UniqueIdentifier,
} from "@dnd-kit/core";
import {
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  type SortingStrategy,
} from "@dnd-kit/sortable";
import { CSS } from "@dnd-kit/utilities";
import { ArrowDown, ArrowUp, GripVertical } from "lucide-react";
import { IconButton } from "@/components/ui/icon-button";
import { cn } from "@/lib/cn";
import { sortAnnouncements } from "@/lib/sort-announcements";

type SortableAreaProps<Row> = {
  /** The rows in their current order. */
  rows: Row[];
  /** Moves a row to the index `to`. */
  move(id: string, to: number): void;
  /** The text for screen readers while a row is over the place `n`, counted from 1. */
  movedText(row: Row, n: number): string;
  /** The text for screen readers about moving a row by keys. */
  dragHelp: string;
  /** How the other rows move aside during a drag (an option of dnd-kit). By default they keep their places. */
  strategy?: SortingStrategy;
  children: ReactNode;
};

/** A strategy in which the other rows do not move aside. */
const keepInPlace = () => null;

/** The area in which rows are reordered by dragging their handles, or by keys on the handles. */
export function SortableArea<Row extends { id: string }>({
  rows,
  move,
  movedText,
  dragHelp,
  strategy = keepInPlace,
  children,
}: SortableAreaProps<Row>) {
  const sensors = useSensors(
    // A drag begins after 4 pixels, so that a click on the handle does not drag.
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const indexOf = (id: UniqueIdentifier | undefined) => rows.findIndex((row) => row.id === id);
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragEnd={({ active, over }) => {
        const to = indexOf(over?.id);
        if (to >= 0) move(String(active.id), to);
      }}
      accessibility={{
        announcements: sortAnnouncements((active, over) => {
          const row = rows[indexOf(active)];
          const n = indexOf(over) + 1;
          return row && n > 0 ? movedText(row, n) : undefined;
        }),
        screenReaderInstructions: { draggable: dragHelp },
      }}
    >
      <SortableContext items={rows} strategy={strategy}>
        {children}
      </SortableContext>
    </DndContext>
  );
}

type SortableListProps<Row> = Omit<SortableAreaProps<Row>, "children" | "strategy"> & {
  /** What screen readers announce after a move. */
  announcement: string;
  renderRow(row: Row, index: number): ReactNode;
};

/** A list of SortableRow. During a drag a line shows where the dragged row would be dropped. */
export function SortableList<Row extends { id: string }>({
  announcement,
  renderRow,
  ...area
}: SortableListProps<Row>) {
  return (
    <>
      <SortableArea {...area}>
        <ol className="border-ink mt-4 border-t-2">{area.rows.map(renderRow)}</ol>
      </SortableArea>
      <p role="status" className="sr-only">
        {announcement}
      </p>
    </>
  );
}

type SortableRowProps = {
  id: string;
  index: number;
  /** Accessible name of the drag handle. */
  dragLabel: string;
  /** The columns of the row's grid. The first one is that of the handle, 44 px. */
  className: string;
  children: ReactNode;
};

/** One row of a SortableList, with its drag handle. */
export function SortableRow({ id, index, dragLabel, className, children }: SortableRowProps) {
  const {
    setNodeRef,
    setActivatorNodeRef,
    attributes,
    listeners,
    transform,
    isDragging,
    isOver,
    activeIndex,
  } = useSortable({ id });
  const isDropTarget = isOver && !isDragging;
  return (
    <li
      ref={setNodeRef}
      style={{ transform: CSS.Translate.toString(transform) }}
      className={cn(
        "border-line relative -mx-[15px] grid items-center gap-x-2.5 gap-y-2 px-[15px] py-[15px] lg:gap-x-5",
        // The bottom line has the width of the content, which is 15 px narrower than the row on each side.
        "after:bg-line after:absolute after:inset-x-[15px] after:bottom-0 after:h-px",
        isDragging &&
          "bg-pop pop-shadow outline-indigo z-10 outline-3 -outline-offset-3 after:hidden",
        isDropTarget &&
          "before:bg-indigo before:absolute before:inset-x-[15px] before:z-10 before:h-[3px]",
        isDropTarget && (activeIndex > index ? "before:-top-0.5" : "before:-bottom-px"),
        className,
      )}
    >
      <button
        type="button"
        ref={setActivatorNodeRef}
        {...attributes}
        {...listeners}
        aria-label={dragLabel}
        title={dragLabel}
        className="grid h-12 w-11 cursor-grab touch-none place-items-center rounded-sm active:cursor-grabbing"
      >
        <GripVertical aria-hidden="true" size={22} strokeWidth={1} className="text-ink2" />
      </button>
      {children}
    </li>
  );
}

type MoveButtonsProps = {
  /** The index of the row among the `total` rows of the list. */
  index: number;
  total: number;
  upLabel: string;
  downLabel: string;
  onMove(to: number): void;
};

const iconProps = { "aria-hidden": true, size: 21, strokeWidth: 1.5 } as const;
const arrowProps = {
  size: "iconSm",
  variant: "ghost",
  className:
    "aria-disabled:text-edge aria-disabled:cursor-default aria-disabled:bg-transparent aria-disabled:hover:bg-transparent",
} as const;

/** The buttons that move a row one place up or down. */
export function MoveButtons({ index, total, upLabel, downLabel, onMove }: MoveButtonsProps) {
  return (
    <>
      <IconButton
        {...arrowProps}
        label={upLabel}
        aria-disabled={index === 0 || undefined}
        onClick={() => onMove(index - 1)}
      >
        <ArrowUp {...iconProps} />
      </IconButton>
      <IconButton
        {...arrowProps}
        label={downLabel}
        aria-disabled={index === total - 1 || undefined}
        onClick={() => onMove(index + 1)}
      >
        <ArrowDown {...iconProps} />
      </IconButton>
    </>
  );
}
