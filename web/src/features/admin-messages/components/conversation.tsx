import { useCommission } from "@/features/admin-messages/api/commission";
import { useConversation, useConversationAction } from "@/features/admin-messages/api/conversation";
import { LinkRow } from "@/features/admin-messages/components/link-row";
import { ReplyForm } from "@/features/admin-messages/components/reply-form";
import { ReplyPictures } from "@/features/admin-messages/components/reply-pictures";
import { Button } from "@/components/ui/button";
import { messageOf } from "@/lib/errors";
import { errorToast } from "@/lib/error-toast";
import { useLanguage, useT } from "@/lib/i18n";
import { dateTime } from "@/lib/owner-dates";
import type { ContactReply, ContactSubmission, ConversationPicture } from "@/lib/types";

/**
 * The conversation about a message: its replies with the state of their mails, the private link, and the form for another reply.
 * The form is shown if the visitor would get the reply, by mail or at the private link.
 */
export function Conversation({ message }: { message: ContactSubmission }) {
  const t = useT();
  const { data } = useConversation(message.id);
  const { data: commission } = useCommission(message.id);
  if (!data) return null;
  // `mail` says whether replies are mailed, `links` whether visitors get private links (URLs at which they follow their messages).
  // `link` is the link to this message, or null.
  const { replies, mail, links, link, language } = data;
  return (
    <section aria-label={t("messages.conversation")} className="mt-8 max-w-[40rem]">
      {replies.length > 0 && (
        <ol className="border-line border-b">
          {replies.map((reply) => (
            <Reply
              key={reply.id}
              reply={reply}
              pictures={data.pictures.filter((picture) => picture.reply_id === reply.id)}
              visitor={message.name}
              mailable={
                mail &&
                (reply.kind !== "offer" ||
                  commission?.offers.find(({ id }) => id === reply.id)?.state === "open")
              }
            />
          ))}
        </ol>
      )}
      {(mail || link) && <ReplyForm message={message} mail={mail} language={language} />}
      {(links || link) && <LinkRow messageId={message.id} link={link} />}
    </section>
  );
}

/** A reply. If it is the owner's and `mailable`, a button mails it again, unless it is being mailed already. */
function Reply({
  reply,
  pictures,
  visitor,
  mailable,
}: {
  reply: ContactReply;
  pictures: ConversationPicture[];
  /** The visitor's name. */
  visitor: string;
  /** Whether the reply may be mailed. An offer may be mailed only while it can be answered. */
  mailable: boolean;
}) {
  const t = useT();
  const { language } = useLanguage();
  const action = useConversationAction(reply.message_id);
  const own = reply.author === "owner";
  const resendable = own && mailable && reply.delivery !== "queued";

  function resend() {
    action
      .mutateAsync({ action: "resend", id: reply.id })
      .catch((error: unknown) => errorToast(t, messageOf(error)));
  }

  return (
    <li className="border-line border-t py-4">
      <p className="text-ink2 text-sm break-words">
        {own ? t("messages.you") : visitor} · {dateTime(reply.created_at, language)}
        {reply.kind !== "reply" && ` · ${t(`messages.kind.${reply.kind}`)}`}
      </p>
      <p className="mt-1 break-words whitespace-pre-line">{reply.text}</p>
      <ReplyPictures pictures={pictures} />
      {own && (
        <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
          <p className={reply.delivery === "failed" ? "text-danger" : "text-ink2"}>
            {t(`messages.delivery.${reply.delivery}`)}
            {reply.delivery !== "sent" && reply.delivery_error && `: ${reply.delivery_error}`}
          </p>
          {resendable && (
            <Button variant="ghost" size="sm" loading={action.isPending} onClick={resend}>
              {t(reply.delivery === "none" ? "messages.mailReply" : "messages.resend")}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}
