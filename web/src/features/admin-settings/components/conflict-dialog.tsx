import { useRef } from "react";
import { Button } from "@/components/ui/button";
import { DialogContent, DialogDescription, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { useT } from "@/lib/i18n";

type ConflictDialogProps = {
  open: boolean;
  busy: boolean;
  onKeep(): void;
  onShowNewer(): void;
  onSaveOver(): void;
};

/** Somebody else, or another tab, has saved since this form was filled. */
export function ConflictDialog({
  open,
  busy,
  onKeep,
  onShowNewer,
  onSaveOver,
}: ConflictDialogProps) {
  const t = useT();
  const keep = useRef<HTMLButtonElement>(null);
  return (
    <DialogRoot open={open} onOpenChange={(next) => (next || busy ? undefined : onKeep())}>
      <DialogContent
        role="alertdialog"
        aria-describedby="conflict-text"
        className="max-w-[560px] p-6 sm:p-8"
        onOpenAutoFocus={(event) => {
          event.preventDefault();
          keep.current?.focus();
        }}
      >
        <DialogTitle className="text-[1.75rem] leading-tight font-[350]">
          {t("settings.conflict.title")}
        </DialogTitle>
        <DialogDescription id="conflict-text" className="mt-2">
          {t("settings.conflict.text")}
        </DialogDescription>
        <div className="mt-7 grid gap-3">
          <Button ref={keep} variant="outline" size="sm" disabled={busy} onClick={onKeep}>
            {t("common.keepEditing")}
          </Button>
          <Button variant="outline" size="sm" disabled={busy} onClick={onShowNewer}>
            {t("settings.conflict.newer")}
          </Button>
          <Button size="sm" loading={busy} onClick={onSaveOver}>
            {t("settings.conflict.both")}
          </Button>
        </div>
      </DialogContent>
    </DialogRoot>
  );
}
