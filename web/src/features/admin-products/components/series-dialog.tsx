import { SeriesForm } from "@/features/admin-products/components/series-form";
import type { SeriesFormState } from "@/features/admin-products/series-schema";
import { DraftNotice } from "@/components/form/draft-notice";
import { DialogClose, DialogContent, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { DiscardDialog } from "@/components/ui/discard-dialog";
import { useDiscardQuestion, type DraftDialogProps } from "@/lib/editing/use-draft-dialog";
import { useT } from "@/lib/i18n";

type SeriesDialogProps = DraftDialogProps<SeriesFormState> & { onCreated(id: string): void };

/** The dialog around the form of a series. It asks before unsaved changes are discarded. */
export function SeriesDialog({ onCreated, ...props }: SeriesDialogProps) {
  const t = useT();
  const { start, draft, open, onLoadNewer, hasDraft, onClose, restored } = props;
  const { report, askOrClose, question } = useDiscardQuestion(props);
  return (
    <DialogRoot
      open={open}
      onOpenChange={(next) => {
        if (!next) askOrClose();
      }}
    >
      <DialogContent className="max-w-[880px] p-5 sm:p-8">
        <DialogTitle className="pr-12 text-[1.75rem] leading-[1.1] font-[310] sm:text-[2rem]">
          {t(start.series ? "series.editTitle" : "series.add")}
        </DialogTitle>
        {restored && <DraftNotice savedAt={restored} onDiscard={onClose} className="mt-3" />}
        <SeriesForm
          start={start}
          draft={draft}
          onChanged={report}
          onLoadNewer={onLoadNewer}
          hasDraft={hasDraft}
          onCancel={askOrClose}
          onSaved={onClose}
          onCreated={onCreated}
        />
        <DialogClose />
        <DiscardDialog {...question} />
      </DialogContent>
    </DialogRoot>
  );
}
