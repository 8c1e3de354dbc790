import { StatusBadge } from "@/features/admin-messages/components/status-badge";
import { localDay, shortDate } from "@/lib/dates";
import { useLanguage, useT } from "@/lib/i18n";
import type { ContactSubmission } from "@/lib/types";
import { cn } from "@/lib/cn";

type MessageListProps = {
  messages: ContactSubmission[];
  openedId: string | null;
  onOpen(id: string): void;
};

export function MessageList({ messages, openedId, onOpen }: MessageListProps) {
  const t = useT();
  const { language } = useLanguage();
  return (
    <ul className="md:border-line min-w-0 md:border-r">
      {messages.map((message) => {
        const current = message.id === openedId;
        const unread = message.status === "new";
        return (
          <li key={message.id}>
            <button
              type="button"
              aria-current={current || undefined}
              onClick={() => onOpen(message.id)}
              className={cn(
                "block w-full pt-4 pb-3 text-left focus-visible:-outline-offset-3 md:px-4 md:pr-[22px]",
                current
                  ? "md:bg-anil-tint md:border-barra border-line border-b md:border-b-6 md:pb-[7px]"
                  : "border-line hover:bg-sombra border-b",
              )}
            >
              <span className="flex min-h-[34px] items-center justify-between gap-3">
                <span className={cn("min-w-0 truncate", unread ? "font-[650]" : "font-[520]")}>
                  {message.name}
                </span>
                <StatusBadge status={message.status} />
              </span>
              <span className="text-ink2 flex justify-between gap-3 text-sm leading-[27px]">
                <span>{t(`reason.${message.reason}`)}</span>
                <span className="lining-nums tabular-nums">
                  {shortDate(localDay(message.created_at), language)}
                </span>
              </span>
              <span
                className={cn(
                  "block truncate text-sm leading-[27px]",
                  unread ? "text-ink" : "text-ink2",
                )}
              >
                {message.message}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
