import type { ReactNode } from "react";
import { DraftNotice } from "@/components/form/draft-notice";
import {
  DialogClose,
  DialogContent,
  DialogRoot,
  DialogTitle,
  focusDialog,
} from "@/components/ui/dialog";
import { DiscardDialog } from "@/components/ui/discard-dialog";
import { cn } from "@/lib/cn";
import {
  useDiscardQuestion,
  type DraftDialogProps,
  type DraftFormProps,
} from "@/lib/editing/use-draft-dialog";

type DraftDialogComponentProps<Start> = {
  /** What useDraftDialog has returned for the dialog. */
  dialog: DraftDialogProps<Start>;
  title: string;
  /** Whether the dialog fills the screen of a phone. The title then stays in place while the form scrolls. */
  fillsPhone?: boolean;
  /** Sets the width of the dialog. */
  className: string;
  /** Renders the form. */
  children(form: DraftFormProps<Start>): ReactNode;
};

/**
 * The dialog around a form whose unsaved values the browser stores as a draft (useDraftDialog). The dialog asks before unsaved
 * changes are discarded. `Start` is the type of the form's initial state, whose property `unsaved` says whether it has unsaved
 * changes.
 */
export function DraftDialog<Start extends { unsaved?: boolean }>({
  dialog,
  title,
  fillsPhone,
  className,
  children,
}: DraftDialogComponentProps<Start>) {
  // `start` is the form's initial state, and `draft` is the name of its draft.
  const { start, draft, open, onLoadNewer, hasDraft, onClose, draftSavedAt } = dialog;
  const { reportChange, askOrClose, discardDialog } = useDiscardQuestion(dialog);
  return (
    <DialogRoot
      open={open}
      onOpenChange={(isOpen) => {
        if (!isOpen) askOrClose();
      }}
    >
      <DialogContent
        overlayClassName={fillsPhone ? "grid place-items-center md:p-7" : undefined}
        // The focus in the first field would open the keyboard on a phone.
        onOpenAutoFocus={fillsPhone ? focusDialog : undefined}
        className={cn(
          className,
          fillsPhone
            ? "flex h-dvh flex-col outline-none md:h-auto md:max-h-[calc(100dvh-56px)]"
            : "p-5 sm:p-8",
        )}
      >
        <DialogTitle
          className={cn(
            "leading-[1.1] font-[310]",
            fillsPhone
              ? "border-ink mx-5 flex-none border-b-2 pt-5 pr-14 pb-4 text-[2rem] md:mx-8 md:pt-[30px] md:pb-[19px]"
              : "pr-12 text-[1.75rem] sm:text-[2rem]",
          )}
        >
          {title}
        </DialogTitle>
        {draftSavedAt && (
          <DraftNotice
            savedAt={draftSavedAt}
            onDiscard={onClose}
            className={fillsPhone ? "mx-5 flex-none pt-3 md:mx-8" : "mt-3"}
          />
        )}
        {children({
          start,
          draft,
          onChanged: reportChange,
          onLoadNewer,
          hasDraft,
          onCancel: askOrClose,
          onSaved: onClose,
        })}
        <DialogClose className={fillsPhone ? "top-2.5 right-2 md:top-3.5 md:right-4" : undefined} />
        <DiscardDialog {...discardDialog} />
      </DialogContent>
    </DialogRoot>
  );
}
