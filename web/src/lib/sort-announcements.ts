import type { Announcements, UniqueIdentifier } from "@dnd-kit/core";

/**
 * Announcements for screen readers while an item is dragged; those of dnd-kit itself are in English only. `textOf` gets the
 * id of the dragged item and the id of the item whose place it would take.
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
