import { useState } from "react";
import { useLanguage, useT } from "@/lib/i18n";
import { cn } from "@/lib/cn";

type DraftNoticeProps = {
  /** When the draft was saved. */
  savedAt: Date;
  onDiscard(): void;
  className?: string;
};

/** Tells the owner that a form shows a restored draft, and when it was saved. Its button discards the draft. */
export function DraftNotice({ savedAt, onDiscard, className }: DraftNoticeProps) {
  const t = useT();
  const { language } = useLanguage();
  const [now] = useState(() => new Date());
  const isToday = savedAt.toDateString() === now.toDateString();
  const time = new Intl.DateTimeFormat(language === "pt" ? "pt-PT" : "en-GB", {
    ...(isToday ? {} : { day: "numeric", month: "long" }),
    hour: "2-digit",
    minute: "2-digit",
  }).format(savedAt);
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
