import type { useSortable } from "@dnd-kit/sortable";
import { GripHorizontal } from "lucide-react";
import { useT } from "@/lib/i18n";

type DragHandleProps = {
  /** The name of the cover. */
  name: string;
  /** The result of useSortable for the cover's card. */
  sortable: Pick<
    ReturnType<typeof useSortable>,
    "setActivatorNodeRef" | "attributes" | "listeners"
  >;
};

/** The handle by which a cover is dragged, at the top of its picture. */
export function DragHandle({ name, sortable }: DragHandleProps) {
  const t = useT();
  const label = t("reviews.drag", { name }); // "Reorder {name}", which serves covers too
  return (
    <button
      type="button"
      ref={sortable.setActivatorNodeRef}
      {...sortable.attributes}
      {...sortable.listeners}
      aria-label={label}
      title={label}
      className="absolute top-1 right-1 z-10 grid size-11 cursor-grab touch-none place-items-center rounded-sm bg-[rgb(9_13_28/.78)] text-[#fafaf8] active:cursor-grabbing"
    >
      <GripHorizontal aria-hidden="true" size={21} strokeWidth={1.5} />
    </button>
  );
}
