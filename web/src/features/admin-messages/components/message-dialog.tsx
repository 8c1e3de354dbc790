import type { ReactNode } from "react";
import { ArrowLeft } from "lucide-react";
import { Button } from "@/components/ui/button";
import { DialogContent, DialogRoot } from "@/components/ui/dialog";
import { useT } from "@/lib/i18n";

type MessageDialogProps = {
  open: boolean;
  /** The text of the button that closes the dialog. The default is "All messages". */
  back?: string;
  onClose(): void;
  children: ReactNode;
};

/** The full-screen dialog that shows the opened message on phones. */
export function MessageDialog({ open, back, onClose, children }: MessageDialogProps) {
  const t = useT();
  return (
    <DialogRoot
      open={open}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
    >
      <DialogContent overlayClassName="" className="bg-page! min-h-dvh px-5 pb-10">
        <Button variant="ghost" size="sm" className="my-2 -ml-3 px-3" onClick={onClose}>
          <ArrowLeft aria-hidden="true" size={20} strokeWidth={1.75} />
          {back ?? t("messages.back")}
        </Button>
        <div className="border-ink border-t-2 pt-6">{children}</div>
      </DialogContent>
    </DialogRoot>
  );
}
