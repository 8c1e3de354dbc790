import { Check, Undo2 } from "lucide-react";
import { useConversationAction } from "@/features/admin-messages/api/conversation";
import { Button } from "@/components/ui/button";
import { messageOf } from "@/lib/errors";
import { errorToast } from "@/lib/error-toast";
import { useT } from "@/lib/i18n";
import type { ContactSubmission } from "@/lib/types";

/** The button that marks a conversation (a message and its replies) as done. If it is done, the button removes the mark. */
export function DoneButton({ message }: { message: ContactSubmission }) {
  const t = useT();
  const action = useConversationAction(message.id);
  const done = message.state === "done";
  const Icon = done ? Undo2 : Check;
  return (
    <Button
      variant="ghost"
      loading={action.isPending}
      onClick={() =>
        void action
          .mutateAsync({ action: done ? "reopen" : "done" })
          .catch((error: unknown) => errorToast(t, messageOf(error)))
      }
    >
      <Icon aria-hidden="true" size={20} strokeWidth={1.75} />
      {t(done ? "messages.reopen" : "messages.markDone")}
    </Button>
  );
}
