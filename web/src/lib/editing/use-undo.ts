import { useCallback } from "react";
import { errorToast } from "@/lib/error-toast";
import { ConflictError } from "@/lib/editing/update-if-unchanged";
import { useT } from "@/lib/i18n";
import { stackedToast, type ToastText } from "@/lib/toast";

/**
 * Returns a function that makes the Undo button of a toast about a change. `undo` reverses the change. The owner may click the button
 * after leaving the page, so `undo` must not depend on the page. A second toast shows the result, with the text `undone` after
 * success.
 */
export function useUndo() {
  const t = useT();
  return useCallback(
    (undo: () => Promise<unknown>, undone: ToastText = { title: t("common.undone") }) => ({
      label: t("common.undo"),
      onClick: () =>
        void undo().then(
          () => stackedToast(undone),
          (error: unknown) => {
            console.warn("A change could not be undone", error);
            errorToast(
              t,
              t(error instanceof ConflictError ? "history.toast.conflict" : "common.undoError"),
            );
          },
        ),
    }),
    [t],
  );
}

/** The ids of all rows of a list, in the order before and in the order after the owner has moved rows. */
export type OrderChange = { before: readonly string[]; after: readonly string[] };

/**
 * Returns the ids in the order that undoes a change. `current` has the ids in their current order. Rows that were deleted since the
 * change are left out. Rows that were added since then are left out too: the server's functions reorder_… put them last.
 *
 * @throws ConflictError if rows were moved since the change.
 */
export function undoneOrder(current: readonly string[], { before, after }: OrderChange): string[] {
  const currentIds = new Set(current);
  const afterIds = new Set(after);
  const stillThere = (id: string) => currentIds.has(id);
  const known = current.filter((id) => afterIds.has(id));
  if (known.join() !== after.filter(stillThere).join()) throw new ConflictError(current);
  return before.filter(stillThere);
}
