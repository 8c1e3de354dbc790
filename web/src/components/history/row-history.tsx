import { useState } from "react";
import { HistoryDialog, type HistoryDifference } from "@/components/history/history-dialog";
import { useHistory, type HistoryRows, type HistoryTable } from "@/lib/history/revisions";
import { useRestoreVersion } from "@/lib/history/use-restore-version";
import { useT } from "@/lib/i18n";

type RowHistoryProps<Table extends HistoryTable> = {
  table: Table;
  /** The dialog shows the history of this row; null closes the dialog. */
  row: HistoryRows[Table] | null;
  /** The name of the row in the title of the dialog. */
  nameOf(row: HistoryRows[Table]): string;
  /** Returns the fields in which an earlier version and the current row differ. */
  differences(before: HistoryRows[Table], now: HistoryRows[Table]): HistoryDifference[];
  onClose(): void;
};

/** The dialog with the earlier versions of a work, a review or a cover (a large picture or video at the top of the home page). */
export function RowHistory<Table extends HistoryTable>({
  table,
  row,
  nameOf,
  differences,
  onClose,
}: RowHistoryProps<Table>) {
  const t = useT();
  // The row of the dialog. It stays while the dialog fades out, when `row` is already null.
  const [shownRow, setShownRow] = useState(row);
  if (row !== null && row !== shownRow) setShownRow(row);
  const query = useHistory<HistoryRows[Table]>(table, shownRow?.id ?? "", row !== null);
  const { restoreVersion } = useRestoreVersion(table);
  return (
    <HistoryDialog
      open={row !== null}
      onClose={onClose}
      title={t("history.ofNamed", { name: shownRow ? nameOf(shownRow) : "" })}
      query={query}
      differences={({ row_before, replaced_files }) => {
        if (shownRow === null) return [];
        const shown = differences(row_before, shownRow).map(({ label, before, now }) => ({
          label,
          // Different values can have the same text, such as two pictures. Then the text says that they differ.
          before: before === now ? t("history.other", { text: before }) : before,
          now,
        }));
        if (replaced_files.length === 0) return shown;
        const replaced = {
          label: t("history.file"),
          before: t("history.replaced"),
          now: t("history.replacedBy"),
        };
        return [...shown, replaced];
      }}
      restore={async (revision) => row !== null && (await restoreVersion(row, revision))}
    />
  );
}
