import type { ReactNode } from "react";
import { Trash2 } from "lucide-react";
import { Button } from "@/components/ui/button";
import { DialogTitle } from "@/components/ui/dialog";
import { useT } from "@/lib/i18n";

type MessageArticleProps = {
  /** The sender's name, and the text. */
  message: { name: string; message: string };
  /** The rows above the text, as DetailRow elements. */
  details: ReactNode;
  onDelete(): void;
  /** Whether the message is in a dialog. The sender's name is then the title of the dialog. */
  inDialog: boolean;
  /** Buttons and notices below the text. */
  children: ReactNode;
};

/** The layout of an opened message, in the inbox and in the quarantine (messages that look like spam or are from a flood). */
export function MessageArticle({
  message,
  details,
  onDelete,
  inDialog,
  children,
}: MessageArticleProps) {
  const t = useT();
  const Title = inDialog ? DialogTitle : "h2";
  return (
    <article>
      <div className="flex items-start justify-between gap-4">
        <Title className="min-w-0 text-[2.5rem] leading-[1.1] font-[300] tracking-[-.01em] break-words">
          {message.name}
        </Title>
        <Button
          variant="ghost"
          size="sm"
          className="text-danger! -mr-0.5 flex-none px-3"
          onClick={onDelete}
        >
          <Trash2 aria-hidden="true" size={20} strokeWidth={1.5} />
          {t("common.delete")}
        </Button>
      </div>
      <dl className="mt-2.5">{details}</dl>
      <p className="mt-5 max-w-[33em] text-[1.4375rem] leading-[1.34] font-[330] break-words whitespace-pre-line">
        {message.message}
      </p>
      {children}
    </article>
  );
}
