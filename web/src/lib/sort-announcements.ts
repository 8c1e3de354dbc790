import type { Announcements, UniqueIdentifier } from "@dnd-kit/core";

/**
 * Makes the texts that screen readers announce while an item is dragged. The texts of dnd-kit itself are only in English. `textOf`
 * gets the id of the dragged item and the id of the item whose place the dragged item would take.
 */
export function sortAnnouncements(
  textOf: (active: UniqueIdentifier, over: UniqueIdentifier) => string | undefined,
): Announcements {
  return {
    onDragStart: ({ active }) => textOf(active.id, active.id),
    onDragOver: ({ active, over }) => (over ? textOf(active.id, over.id) : undefined),
    onDragEnd: ({ active, over }) => textOf(active.id, over?.id ?? active.id),
    onDragCancel: ({ active }) => textOf(active.id, active.id),
  };
}
