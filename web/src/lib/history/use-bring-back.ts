import { useQueryClient } from "@tanstack/react-query";
import { errorToast } from "@/lib/error-toast";
import { useOwnerBackend } from "@/lib/backend";
import { ConflictError } from "@/lib/editing/update-if-unchanged";
import {
  bringBack,
  bringBackDeleted,
  SlugTakenError,
  undoDeletion,
} from "@/lib/history/bring-back";
import { historyKeys, type HistoryRows, type HistoryTable } from "@/lib/history/revisions";
import { useT } from "@/lib/i18n";
import { refetch } from "@/lib/refetch";
import type { TextKey } from "@/lib/texts";
import { stackedToast } from "@/lib/toast";
import type { Revision } from "@/lib/types";

/** The key of the text that says why nothing was brought back. */
function reasonKey(error: unknown): TextKey {
  if (error instanceof ConflictError) return "history.toast.conflict";
  if (error instanceof SlugTakenError) return "history.toast.slugTaken";
  return "history.toast.error";
}

/**
 * Returns a function that calls `write`, which brings a row or settings back, and shows the result in a toast. `title` is the title of
 * the toast after success. `write` resolves with the number of files that no longer exist, or with null if the owner has cancelled.
 * The function resolves with true if `write` has succeeded.
 */
export function useBringBackToast() {
  const t = useT();
  return async (title: string, write: () => Promise<number | null>): Promise<boolean> => {
    try {
      const missingCount = await write();
      if (missingCount === null) return false;
      stackedToast({
        title,
        description: missingCount > 0 ? t("history.missing", { n: missingCount }) : undefined,
      });
      return true;
    } catch (error) {
      console.warn("Nothing was brought back", error);
      errorToast(t, t(reasonKey(error)));
      return false;
    }
  };
}

/** Functions that bring back earlier versions and deleted rows of a table. Each function resolves with whether it has succeeded. */
export function useBringBack<Table extends HistoryTable>(table: Table) {
  const t = useT();
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const writeWithToast = useBringBackToast();
  type Row = HistoryRows[Table];

  async function writeAndRefetch(title: string, write: () => Promise<number>) {
    const succeeded = await writeWithToast(title, write);
    // Refetches after a failure too, so that the list shows the newer row after a conflict.
    await Promise.all([refetch(cache, [table]), refetch(cache, historyKeys.all)]);
    return succeeded;
  }

  return {
    /** Makes an earlier version of a row the current one. */
    bringBackVersion: (current: Row, revision: Revision<Row>) =>
      writeAndRefetch(t("history.toast.back"), () => bringBack(backend, table, current, revision)),
    /** Inserts a deleted row again. */
    bringBackDeleted: (name: string, before: Row) =>
      writeAndRefetch(t("deleted.toast.back", { name }), () =>
        bringBackDeleted(backend, table, before),
      ),
    /** Inserts a row again that was just deleted, with the values of its newest revision. */
    undoDeletion: (name: string, id: string) =>
      writeAndRefetch(t("deleted.toast.back", { name }), () => undoDeletion(backend, table, id)),
  };
}
