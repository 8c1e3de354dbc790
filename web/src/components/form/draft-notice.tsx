import { useState } from "react";
import { useLanguage, useT } from "@/lib/i18n";
import { cn } from "@/lib/cn";

type DraftNoticeProps = {
  /** When the draft was saved. */
  at: Date;
  onDiscard(): void;
  className?: string;
};

/** Tells the owner that a form shows a restored draft, and when it was saved. Its button discards the draft. */
export function DraftNotice({ at, onDiscard, className }: DraftNoticeProps) {
  const t = useT();
  const { language } = useLanguage();
  const [now] = useState(() => new Date());
  const today = at.toDateString() === now.toDateString();
  const time = new Intl.DateTimeFormat(language === "pt" ? "pt-PT" : "en-GB", {
    ...(today ? {} : { day: "numeric", month: "long" }),
    hour: "2-digit",
    minute: "2-digit",
  }).format(at);
  return (
    <p
      role="status"
      className={cn("text-ink2 flex flex-wrap items-center gap-x-3 text-sm", className)}
    >
      {t("common.draftRestored", { time })}
      <button
        type="button"
        onClick={onDiscard}
        className="text-danger decoration-danger -my-2 inline-flex min-h-11 items-center underline underline-offset-4"
      >
        {t("common.discardDraft")}
      </button>
    </p>
  );
}
