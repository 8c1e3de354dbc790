import { Button } from "@/components/ui/button";
import { DialogContent, DialogDescription, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { useT } from "@/lib/i18n";

export type Difference = { label: string; theirs: string; mine: string };

type ConflictDialogProps = {
  open: boolean;
  /** What differs between the stored version and the one that was to be saved. */
  differences: readonly Difference[];
  /** Goes on with the stored version; what was typed here is dropped. */
  onNewer(): void;
  /** Saves what was typed here over the stored version. */
  onMine(): void;
  onKeep(): void;
  busy?: boolean;
};

/** Somebody else saved the same row first: shows both versions side by side and asks which one stays. */
export function ConflictDialog({
  open,
  differences,
  onNewer,
  onMine,
  onKeep,
  busy = false,
}: ConflictDialogProps) {
  const t = useT();
  return (
    <DialogRoot
      open={open}
      onOpenChange={(next) => {
        if (!next && !busy) onKeep();
      }}
    >
      <DialogContent
        role="alertdialog"
        base="telha"
        className="max-w-[640px] p-5 outline-none sm:p-8"
        aria-describedby="conflict-text"
        // Neither answer is the safe one, so the text comes first.
        onOpenAutoFocus={(event) => {
          event.preventDefault();
          (event.currentTarget as HTMLElement).focus();
        }}
      >
        <DialogTitle className="text-[1.75rem] leading-tight font-[350]">
          {t("conflict.title")}
        </DialogTitle>
        <DialogDescription id="conflict-text" className="mt-2">
          {t("conflict.body")}
        </DialogDescription>
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
        <div className="mt-7 flex flex-wrap justify-end gap-3">
          <Button variant="ghost" size="sm" disabled={busy} onClick={onKeep}>
            {t("common.keepEditing")}
          </Button>
          <Button variant="outline" size="sm" disabled={busy} onClick={onNewer}>
            {t("conflict.look")}
          </Button>
          <Button variant="danger" size="sm" loading={busy} onClick={onMine}>
            {t("conflict.overwrite")}
          </Button>
        </div>
      </DialogContent>
    </DialogRoot>
  );
}
