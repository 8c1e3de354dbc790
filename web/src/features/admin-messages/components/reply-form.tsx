import { useRef, useState, type FormEvent } from "react";
import { useConversationAction, useIsReplying } from "@/features/admin-messages/api/conversation";
import { SavedReplyMenu } from "@/features/admin-messages/components/saved-reply-menu";
import { PicturesField } from "@/features/admin-messages/components/pictures-field";
import { newTextDraft, useMessageDraft } from "@/features/admin-messages/hooks/use-message-draft";
import { TextAreaField } from "@/components/form/text-area-field";
import { Button } from "@/components/ui/button";
import { errorToast } from "@/lib/error-toast";
import { CONTACT_MESSAGE_MAX } from "@/lib/constants";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import type { ContactSubmission, Conversation } from "@/lib/types";

/**
 * The form for the owner's reply to a message. The visitor reads the reply at the private link (the URL at which the visitor follows
 * the message), and gets it by mail if a mail server is configured.
 */
export function ReplyForm({
  message,
  mail,
  language,
}: {
  message: ContactSubmission;
  /** Whether the reply will be mailed. */
  mail: boolean;
  /** The language of the message, in which saved replies are inserted. */
  language: Conversation["language"];
}) {
  const t = useT();
  const { draft, changeDraft, clearDraft } = useMessageDraft("reply", message.id, newTextDraft);
  const [error, setError] = useState("");
  const picturesInput = useRef<HTMLInputElement>(null);
  const action = useConversationAction(message.id);
  const sending = useIsReplying(message.id);
  const textArea = useRef<HTMLTextAreaElement>(null);

  function change(text: string) {
    changeDraft({ ...draft, text });
    setError("");
  }

  function send(event: FormEvent) {
    event.preventDefault();
    const pictures = Array.from(picturesInput.current?.files ?? []);
    if (draft.text.trim() === "" && pictures.length === 0) {
      setError(t("messages.replyEmpty"));
      return;
    }
    action.mutateAsync({ action: "reply", ...draft, pictures }).then(
      () => {
        clearDraft(draft);
        if (picturesInput.current) picturesInput.current.value = "";
        stackedToast({ title: t("messages.toast.replied") });
      },
      (failure: unknown) => errorToast(t, messageOf(failure)),
    );
  }

  return (
    <form onSubmit={send} noValidate className="mt-6">
      <TextAreaField
        label={t("messages.replyLabel", { name: message.name })}
        hint={t(mail ? "messages.replyMailed" : "messages.replyAtLink")}
        ref={textArea}
        rows={5}
        maxLength={CONTACT_MESSAGE_MAX}
        value={draft.text}
        readOnly={sending}
        error={error || undefined}
        onChange={(event) => change(event.target.value)}
      />
      <PicturesField ref={picturesInput} />
      <div className="mt-3 flex flex-wrap gap-3">
        <Button type="submit" size="sm" loading={sending}>
          {t("messages.sendReply")}
        </Button>
        <SavedReplyMenu
          language={language}
          name={message.name}
          onInsert={(text) =>
            change(draft.text.trim() ? `${draft.text.trimEnd()}\n\n${text}` : text)
          }
          onInserted={() => textArea.current?.focus()}
        />
      </div>
    </form>
  );
}
