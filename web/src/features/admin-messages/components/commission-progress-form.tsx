import { useRef, useState, type FormEvent } from "react";
import { useCommissionAction, useIsCommissionBusy } from "@/features/admin-messages/api/commission";
import { PicturesField } from "@/features/admin-messages/components/pictures-field";
import { newTextDraft, useMessageDraft } from "@/features/admin-messages/hooks/use-message-draft";
import { TextAreaField } from "@/components/form/text-area-field";
import { Button } from "@/components/ui/button";
import { CONTACT_MESSAGE_MAX } from "@/lib/constants";
import { errorToast } from "@/lib/error-toast";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";

/** The form for a note on the progress of a commission (a work that a visitor orders). The visitor gets the note like a reply. */
export function CommissionProgressForm({
  messageId,
  onSent,
}: {
  messageId: string;
  onSent(): void;
}) {
  const t = useT();
  const { draft, changeDraft, clearDraft } = useMessageDraft("progress", messageId, newTextDraft);
  const [error, setError] = useState("");
  const picturesInput = useRef<HTMLInputElement>(null);
  const action = useCommissionAction(messageId);
  const busy = useIsCommissionBusy(messageId);

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
    action.mutateAsync({ action: "progress", ...draft, pictures }, { onSuccess: onSent }).then(
      () => {
        clearDraft(draft);
        stackedToast({ title: t("commission.toast.progress") });
      },
      (failure: unknown) => errorToast(t, messageOf(failure)),
    );
  }

  return (
    <form onSubmit={send} noValidate className="mt-4">
      <TextAreaField
        label={t("commission.progressText")}
        hint={t("commission.progressHint")}
        rows={4}
        maxLength={CONTACT_MESSAGE_MAX}
        value={draft.text}
        readOnly={busy}
        error={error || undefined}
        onChange={(event) => change(event.target.value)}
      />
      <PicturesField ref={picturesInput} />
      <Button type="submit" size="sm" className="mt-3" loading={busy}>
        {t("commission.sendProgress")}
      </Button>
    </form>
  );
}
