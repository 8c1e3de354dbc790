import type { Announcements, UniqueIdentifier } from "@dnd-kit/core";

/**
 * What a screen reader hears while something is dragged. dnd-kit's own sentences are English only.
 * `say` gets the dragged id and the id whose place it would take.
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
