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
 * The age at which a reply that is still being mailed has no job any more: all attempts of the job take less time. From this age on
 * the server accepts that the reply is mailed again (noticeLife). Jobs are lost when the site is imported into another server.
 */
const REPLY_MAIL_LIFE_MS = 12 * 60 * 60 * 1000;

/** Returns the state of the mail with a reply, which is "failed" if its job is lost. */
function deliveryOf({ delivery, delivery_at }: ContactReply): ContactReply["delivery"] {
  if (delivery !== "queued") return delivery;
  const age = delivery_at === null ? Infinity : Date.now() - Date.parse(delivery_at);
  return age < REPLY_MAIL_LIFE_MS ? "queued" : "failed";
}

/**
 * The conversation below an opened message: the replies with the state of their mails, the form for another reply, and the private
 * link (the URL at which the visitor follows the message). The form is shown only if the visitor would get the reply.
 */
export function Conversation({ message }: { message: ContactSubmission }) {
  const t = useT();
  const { data } = useConversation(message.id);
  const { data: commission } = useCommission(message.id);
  if (!data) return null;
  // `mail` says whether replies are mailed. `links` says whether visitors get private links. `link` is the private link of this
  // message, or null.
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
              isMailable={
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

/** A reply. A reply of the owner has a button that mails it again, if `isMailable` and if it is not being mailed already. */
function Reply({
  reply,
  pictures,
  visitor,
  isMailable,
}: {
  reply: ContactReply;
  pictures: ConversationPicture[];
  /** The visitor's name. */
  visitor: string;
  /** Whether the reply may be mailed. An offer may be mailed only while it can be answered. */
  isMailable: boolean;
}) {
  const t = useT();
  const { language } = useLanguage();
  const action = useConversationAction(reply.message_id);
  const own = reply.author === "owner";
  const delivery = deliveryOf(reply);
  const resendable = own && isMailable && delivery !== "queued";

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
          <p className={delivery === "failed" ? "text-danger" : "text-ink2"}>
            {t(`messages.delivery.${delivery}`)}
            {delivery !== "sent" && reply.delivery_error && `: ${reply.delivery_error}`}
          </p>
          {resendable && (
            <Button variant="ghost" size="sm" loading={action.isPending} onClick={resend}>
              {t(delivery === "none" ? "messages.mailReply" : "messages.resend")}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}
