import { useRef, useState } from "react";
import { History } from "lucide-react";
import { RevisionListState } from "@/components/history/revision-list-state";
import { Button } from "@/components/ui/button";
import {
  DialogClose,
  DialogContent,
  DialogDescription,
  DialogRoot,
  DialogTitle,
  focusDialog,
} from "@/components/ui/dialog";
import { useDeleted, type HistoryRows, type HistoryTable } from "@/lib/history/revisions";
import { useRestoreVersion } from "@/lib/history/use-restore-version";
import { useLanguage, useT } from "@/lib/i18n";
import { dateTime } from "@/lib/owner-dates";
import type { Revision } from "@/lib/types";

type RecentlyDeletedProps<Table extends HistoryTable> = {
  table: Table;
  /** The name by which the dialog and its toasts refer to a row. */
  nameOf(row: HistoryRows[Table]): string;
};

/** A button below a list. It opens a dialog with the rows that were deleted from the list, in which the owner can restore them. */
export function RecentlyDeleted<Table extends HistoryTable>({
  table,
  nameOf,
}: RecentlyDeletedProps<Table>) {
  const t = useT();
  const { language } = useLanguage();
  const [open, setOpen] = useState(false);
  // The ids of the revisions that are being restored. A revision is a deleted row as it was before the deletion.
  const [pendingIds, setPendingIds] = useState<readonly number[]>([]);
  // Resolves when all rows that the owner has chosen so far are restored or have failed.
  const lastRestore = useRef<Promise<unknown>>(Promise.resolve());
  const dialogContent = useRef<HTMLDivElement>(null);
  const query = useDeleted(table, open);
  const { restoreDeletedRow } = useRestoreVersion(table);

  async function restore(revision: Revision<HistoryRows[Table]>) {
    setPendingIds((ids) => [...ids, revision.id]);
    // Rows are restored one after the other, because each restored cover renumbers the other covers.
    const finished = lastRestore.current.then(() =>
      restoreDeletedRow(nameOf(revision.row_before), revision.row_before),
    );
    lastRestore.current = finished;
    await finished;
    setPendingIds((ids) => ids.filter((id) => id !== revision.id));
    // If the row is restored, its focused button has left the list, so the dialog gets the focus.
    if (!dialogContent.current?.contains(document.activeElement)) dialogContent.current?.focus();
  }

  return (
    <>
      <Button variant="ghost" size="sm" className="mt-8 -ml-3 px-3" onClick={() => setOpen(true)}>
        <History aria-hidden="true" size={20} strokeWidth={1.5} />
        {t("deleted.open")}
      </Button>
      <DialogRoot open={open} onOpenChange={setOpen}>
        <DialogContent
          ref={dialogContent}
          className="max-w-[640px] p-5 outline-none sm:p-8"
          aria-describedby="deleted-intro"
          onOpenAutoFocus={focusDialog}
        >
          <DialogTitle className="pr-12 text-[1.75rem] leading-tight font-[350]">
            {t("deleted.open")}
          </DialogTitle>
          <DialogDescription id="deleted-intro" className="mt-2">
            {t("deleted.intro")}
          </DialogDescription>
          <RevisionListState query={query} empty={t("deleted.empty")}>
            {(revisions) => (
              <ul className="border-ink mt-5 border-t-2">
                {revisions.map((revision) => {
                  const name = nameOf(revision.row_before);
                  const time = dateTime(revision.changed_at, language);
                  const { actor } = revision;
                  return (
                    <li
                      key={revision.id}
                      className="border-line flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-b py-3"
                    >
                      <span className="min-w-0 flex-1 basis-56 wrap-anywhere">
                        <span className="block text-[1.25rem] leading-[1.25] font-[430] italic">
                          {name}
                        </span>
                        <span className="text-ink2 block text-sm">
                          {actor ? t("deleted.atBy", { time, actor }) : t("deleted.at", { time })}
                        </span>
                      </span>
                      <Button
                        variant="outline"
                        size="sm"
                        loading={pendingIds.includes(revision.id)}
                        aria-label={t("deleted.bringBackNamed", { name })}
                        onClick={() => void restore(revision)}
                      >
                        {t("deleted.bringBack")}
                      </Button>
                    </li>
                  );
                })}
              </ul>
            )}
          </RevisionListState>
          <DialogClose />
        </DialogContent>
      </DialogRoot>
    </>
  );
}
