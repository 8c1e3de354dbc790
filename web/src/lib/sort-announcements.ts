import type { Announcements, UniqueIdentifier } from "@dnd-kit/core";

/**
 * Announcements for screen readers while an item is dragged; those of dnd-kit are in English only. `say` gets the id of the
 * dragged item and the id of the item whose place it would take, and returns the text.
 */
export function sortAnnouncements(
  say: (active: UniqueIdentifier, over: UniqueIdentifier) => string | undefined,
): Announcements {
  return {
    onDragStart: ({ active }) => say(active.id, active.id),
    onDragOver: ({ active, over }) => (over ? say(active.id, over.id) : undefined),
    onDragEnd: ({ active, over }) => say(active.id, over?.id ?? active.id),
    onDragCancel: ({ active }) => say(active.id, active.id),
  };
}
