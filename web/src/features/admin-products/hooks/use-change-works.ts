import { useChangeProducts, type WorkValues } from "@/features/admin-products/api/change-products";
import { errorToast } from "@/lib/error-toast";
import { useUndo } from "@/lib/editing/use-undo";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";

/**
 * Returns a function that sets the same values in several works (rows of products), given their ids. Afterwards a toast offers to
 * undo the change, or says that the change has failed.
 */
export function useChangeWorks() {
  const t = useT();
  const undoButton = useUndo();
  const { change, undoChange } = useChangeProducts();
  return (ids: readonly string[], values: WorkValues) => {
    change(ids, values).then(
      (changed) =>
        stackedToast({
          title: t("wall.toast.changed", { n: changed.before.length }),
          action: undoButton(() => undoChange(changed, values)),
        }),
      () => errorToast(t, t("wall.failed")),
    );
  };
}
