import { SeriesForm } from "@/features/admin-products/components/series-form";
import type { SeriesFormState } from "@/features/admin-products/series-schema";
import { DraftDialog } from "@/components/form/draft-dialog";
import type { DraftDialogProps } from "@/lib/editing/use-draft-dialog";
import { useT } from "@/lib/i18n";

type SeriesDialogProps = DraftDialogProps<SeriesFormState> & {
  /** Called with the id of a new series that was saved. */
  onCreated(id: string): void;
};

/**
 * The dialog in which the owner adds or edits a series (works that the owner shows together). useDraftDialog provides the other props,
 * and stores unsaved values of the form in the browser.
 */
export function SeriesDialog({ onCreated, ...dialog }: SeriesDialogProps) {
  const t = useT();
  const title = t(dialog.start.series ? "series.editTitle" : "series.add");
  return (
    <DraftDialog dialog={dialog} title={title} className="max-w-[880px]">
      {(form) => <SeriesForm {...form} onCreated={onCreated} />}
    </DraftDialog>
  );
}
