import { useRef } from "react";
import { Button } from "@/components/ui/button";
import {
  DialogContent,
  DialogDescription,
  DialogRoot,
  DialogTitle,
  focusDialog,
} from "@/components/ui/dialog";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";

/** A field that differs: its stored value (`theirs`) and its value in the form (`mine`), as texts. */
export type Difference = { label: string; theirs: string; mine: string };

type ConflictDialogProps = {
  open: boolean;
  /**
   * The fields in which the stored version differs from the form. Forms that save only their changed fields do not pass this list,
   * because saving them keeps the changes of both versions.
   */
  differences?: readonly Difference[];
  /** Loads the stored version and drops the changes of this form. */
  onLoadNewer(): void;
  /** Saves this version over the stored one. */
  onOverwrite(): void;
  onKeepEditing(): void;
  /** Whether a save is running. The dialog cannot be closed while it runs. */
  busy?: boolean;
};

/** Asks the owner which version to keep after another user or tab has saved a newer one. */
export function ConflictDialog({
  open,
  differences,
  onLoadNewer,
  onOverwrite,
  onKeepEditing,
  busy = false,
}: ConflictDialogProps) {
  const t = useT();
  const keepButton = useRef<HTMLButtonElement>(null);
  return (
    <DialogRoot
      open={open}
      onOpenChange={(isOpen) => {
        if (!isOpen && !busy) onKeepEditing();
      }}
    >
      <DialogContent
        role="alertdialog"
        footColour={differences ? "danger" : "band"}
        className={
          differences ? "max-w-[640px] p-5 outline-none sm:p-8" : "max-w-[560px] p-6 sm:p-8"
        }
        aria-describedby="conflict-text"
        onOpenAutoFocus={(event) => {
          event.preventDefault();
          // With differences no button is a safe default, so the focus goes to the dialog.
          if (differences) focusDialog(event);
          else keepButton.current?.focus();
        }}
      >
        <DialogTitle className="text-[1.75rem] leading-tight font-[350]">
          {t(differences ? "conflict.title" : "settings.conflict.title")}
        </DialogTitle>
        <DialogDescription id="conflict-text" className="mt-2">
          {t(differences ? "conflict.body" : "settings.conflict.text")}
        </DialogDescription>
        {differences && <Differences differences={differences} />}
        <div className={cn("mt-7 gap-3", differences ? "flex flex-wrap justify-end" : "grid")}>
          <Button
            ref={keepButton}
            variant={differences ? "ghost" : "outline"}
            size="sm"
            disabled={busy}
            onClick={onKeepEditing}
          >
            {t("common.keepEditing")}
          </Button>
          <Button variant="outline" size="sm" disabled={busy} onClick={onLoadNewer}>
            {t(differences ? "conflict.look" : "settings.conflict.newer")}
          </Button>
          <Button
            variant={differences ? "danger" : "primary"}
            size="sm"
            loading={busy}
            onClick={onOverwrite}
          >
            {t(differences ? "conflict.overwrite" : "settings.conflict.both")}
          </Button>
        </div>
      </DialogContent>
    </DialogRoot>
  );
}

/** The fields that differ, each with the stored value beside the value of the form. */
function Differences({ differences }: { differences: readonly Difference[] }) {
  const t = useT();
  return (
    <div
      role="region"
      aria-label={t("conflict.differences")}
      className="border-ink mt-5 border-t-2"
    >
      <dl>
        {differences.map(({ label, theirs, mine }) => (
          <div key={label} className="border-line border-b py-3">
            <dt className="label-text font-[520]">{label}</dt>
            <dd className="mt-1 grid gap-x-6 gap-y-2 wrap-anywhere sm:grid-cols-2">
              {[
                [t("conflict.theirs"), theirs],
                [t("conflict.mine"), mine],
              ].map(([whose, text]) => (
                <span key={whose} className="block">
                  <span className="text-ink2 block text-sm">{whose}</span>
                  <span className="line-clamp-6 whitespace-pre-line">{text || "–"}</span>
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
