import { Button } from "@/components/ui/button";
import { DialogContent, DialogRoot, DialogTitle, focusDialog } from "@/components/ui/dialog";
import { RecoveryCodeList } from "@/features/session/components/account/recovery-code-list";
import { useT } from "@/lib/i18n";

type CodesDialogProps = {
  /** The codes to show; null closes the dialog. */
  codes: readonly string[] | null;
  /** Called when the owner has confirmed that the codes are stored. */
  onKept(): void;
};

/**
 * The dialog with new recovery codes, which replace a second factor. Only its button closes the dialog, because the codes cannot be
 * shown again.
 */
export function CodesDialog({ codes, onKept }: CodesDialogProps) {
  const t = useT();
  return (
    <DialogRoot open={codes !== null}>
      <DialogContent
        className="max-w-[600px] p-6 outline-none sm:p-8"
        onOpenAutoFocus={focusDialog}
        onEscapeKeyDown={(event) => event.preventDefault()}
        onPointerDownOutside={(event) => event.preventDefault()}
      >
        <DialogTitle className="text-[1.75rem] leading-tight font-[350]">
          {t("account.codes.title")}
        </DialogTitle>
        {codes && <RecoveryCodeList codes={codes} />}
        <div className="mt-5 flex justify-end print:hidden">
          <Button size="sm" onClick={onKept}>
            {t("account.codes.kept")}
          </Button>
        </div>
      </DialogContent>
    </DialogRoot>
  );
}
