import { useQueryClient } from "@tanstack/react-query";
import { errorToast } from "@/lib/error-toast";
import { useOwnerBackend } from "@/lib/backend";
import { ConflictError } from "@/lib/editing/update-if-unchanged";
import {
  restoreDeletedRow,
  restoreVersion,
  SlugTakenError,
  undoDeletion,
} from "@/lib/history/restore-version";
import { historyKeys, type HistoryRows, type HistoryTable } from "@/lib/history/revisions";
import { useT } from "@/lib/i18n";
import { refetch } from "@/lib/refetch";
import type { TextKey } from "@/lib/texts";
import { stackedToast } from "@/lib/toast";
import type { Revision } from "@/lib/types";

/** The key of the text that says why nothing was restored. */
function reasonKey(error: unknown): TextKey {
  if (error instanceof ConflictError) return "history.toast.conflict";
  if (error instanceof SlugTakenError) return "history.toast.slugTaken";
  return "history.toast.error";
}

/**
 * Returns a function that calls `write`, which restores a row or settings, and shows the result in a toast. `title` is the title of
 * the toast after success. `write` resolves with the number of files that no longer exist, or with null if the owner has cancelled.
 * The function resolves with true if `write` has succeeded.
 */
export function useRestoreToast() {
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

/** Functions that restore earlier versions and deleted rows of a table. Each function resolves with whether it has succeeded. */
export function useRestoreVersion<Table extends HistoryTable>(table: Table) {
  const t = useT();
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  const writeWithToast = useRestoreToast();
  type Row = HistoryRows[Table];

  async function writeAndRefetch(title: string, write: () => Promise<number>) {
    const succeeded = await writeWithToast(title, write);
    // Refetches after a failure too, so that the list shows the newer row after a conflict.
    await Promise.all([refetch(queryClient, [table]), refetch(queryClient, historyKeys.all)]);
    return succeeded;
  }

  return {
    /** Makes an earlier version of a row the current one. */
    restoreVersion: (current: Row, revision: Revision<Row>) =>
      writeAndRefetch(t("history.toast.back"), () =>
        restoreVersion(backend, table, current, revision),
      ),
    /** Inserts a deleted row again. */
    restoreDeletedRow: (name: string, before: Row) =>
      writeAndRefetch(t("deleted.toast.back", { name }), () =>
        restoreDeletedRow(backend, table, before),
      ),
    /** Inserts a row again that was just deleted, with the values of its newest revision. */
    undoDeletion: (name: string, id: string) =>
      writeAndRefetch(t("deleted.toast.back", { name }), () => undoDeletion(backend, table, id)),
  };
}
