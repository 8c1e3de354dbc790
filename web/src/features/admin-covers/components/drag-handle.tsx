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

/**
 * The handle of a cover's card: a button by which the owner drags the cover (a large picture or video at the top of the home page) to
 * another place in the order of the covers.
 */
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
