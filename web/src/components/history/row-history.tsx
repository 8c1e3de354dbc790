import { useState } from "react";
import { HistoryDialog, type HistoryDifference } from "@/components/history/history-dialog";
import { useHistory, type HistoryRows, type HistoryTable } from "@/lib/history/revisions";
import { useBringBack } from "@/lib/history/use-bring-back";
import { useT } from "@/lib/i18n";

type RowHistoryProps<Table extends HistoryTable> = {
  table: Table;
  /** The row whose history is shown, as the list has it; null closes the dialog. */
  row: HistoryRows[Table] | null;
  nameOf(row: HistoryRows[Table]): string;
  differences(before: HistoryRows[Table], now: HistoryRows[Table]): HistoryDifference[];
  onClose(): void;
};

/** The history of a work, a review or a cover. */
export function RowHistory<Table extends HistoryTable>({
  table,
  row,
  nameOf,
  differences,
  onClose,
}: RowHistoryProps<Table>) {
  const t = useT();
  // The dialog keeps its content while it fades out.
  const [shown, setShown] = useState(row);
  if (row !== null && row !== shown) setShown(row);
  const query = useHistory(table, shown?.id ?? "", row !== null);
  const { version } = useBringBack(table);
  return (
    <HistoryDialog
      open={row !== null}
      onClose={onClose}
      title={t("history.ofNamed", { name: shown ? nameOf(shown) : "" })}
      query={query}
      differences={({ row_before }) =>
        shown === null
          ? []
          : differences(row_before, shown).map(({ label, before, now }) => ({
              label,
              // Files have random names, so that two versions may read alike.
              before: before === now ? t("history.other", { text: before }) : before,
              now,
            }))
      }
      bringBack={async ({ row_before }) => row !== null && (await version(row, row_before))}
    />
  );
}
