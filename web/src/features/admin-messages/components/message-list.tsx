import type { KeyboardEvent, ReactNode } from "react";
import { MailWarning } from "lucide-react";
import { localDay, shortDate } from "@/lib/owner-dates";
import { useLanguage, useT } from "@/lib/i18n";
import { cn } from "@/lib/cn";

/** A row of the message list, in the inbox or in the quarantine (messages that look like spam or are from a flood). */
type ListedMessage = {
  id: string;
  name: string;
  message: string;
  created_at: string;
  /** The line between the name and the text. */
  subtitle: ReactNode;
  /** A picture beside the row. */
  picture?: ReactNode;
  /** Whether the row is emphasized. */
  unread: boolean;
  /** An element beside the name, such as the status. */
  badge?: ReactNode;
  /** Whether a notice (a mail or webhook request to the owners) about this message has failed. */
  noticeFailed: boolean;
};

type MessageListProps = {
  /** Accessible name of the list. */
  label: string;
  messages: ListedMessage[];
  openedId: string | null;
  onOpen(id: string): void;
};

/** Moves the focus to the next or previous message with the arrow keys. */
function moveFocus(event: KeyboardEvent<HTMLUListElement>) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const focused = buttons.findIndex((button) => button === event.target);
  const next = focused < 0 ? undefined : buttons[focused + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** The list of messages in the inbox or in the quarantine. The opened message is marked. */
export function MessageList({ label, messages, openedId, onOpen }: MessageListProps) {
  const t = useT();
  const { language } = useLanguage();
  return (
    <ul aria-label={label} onKeyDown={moveFocus} className="md:border-line min-w-0 md:border-r">
      {messages.map((message) => {
        const isOpened = message.id === openedId;
        return (
          <li key={message.id}>
            <button
              type="button"
              aria-current={isOpened || undefined}
              onClick={() => onOpen(message.id)}
              className={cn(
                "block w-full pt-4 pb-3 text-left focus-visible:-outline-offset-3 md:px-4 md:pr-[22px]",
                isOpened
                  ? "md:bg-indigo-tint md:border-band border-line border-b md:border-b-6 md:pb-[7px]"
                  : "border-line hover:bg-shade border-b",
              )}
            >
              <span className="flex gap-3">
                <span className="min-w-0 flex-1">
                  <span className="flex min-h-[34px] items-center justify-between gap-3">
                    <span
                      className={cn(
                        "min-w-0 truncate",
                        message.unread ? "font-[650]" : "font-[520]",
                      )}
                    >
                      {message.name}
                    </span>
                    {message.badge}
                  </span>
                  <span className="text-ink2 flex flex-wrap justify-between gap-x-3 text-sm leading-[27px]">
                    <span className="min-w-0 truncate">{message.subtitle}</span>
                    <span className="flex-none lining-nums tabular-nums">
                      {shortDate(localDay(message.created_at), language)}
                    </span>
                  </span>
                  <span
                    className={cn(
                      "block truncate text-sm leading-[27px]",
                      message.unread ? "text-ink" : "text-ink2",
                    )}
                  >
                    {message.message}
                  </span>
                  {message.noticeFailed && (
                    <span className="text-danger flex items-center gap-2 text-sm leading-[27px] font-[520]">
                      <MailWarning aria-hidden="true" size={18} strokeWidth={1.75} />
                      {t("messages.noticeFailed")}
                    </span>
                  )}
                </span>
                {message.picture}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
