import { useRef, useState } from "react";
import { ArrowDown, ArrowLeft, ArrowUp, Pencil, Plus, Trash2 } from "lucide-react";
import {
  useDeleteSavedReply,
  useMoveSavedReply,
  useRestoreSavedReply,
  useSavedReplies,
} from "@/features/admin-messages/api/saved-replies";
import { BoxLink } from "@/features/admin-messages/components/box-link";
import { SavedReplyForm } from "@/features/admin-messages/components/saved-reply-form";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { useRowOrder } from "@/lib/editing/use-row-order";
import { errorToast } from "@/lib/error-toast";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import type { SavedReply } from "@/lib/types";

/**
 * The part of the messages page where the owner adds, edits, orders and deletes saved replies (texts to insert into replies). The
 * toast after a deletion has a button that undoes it.
 */
export function SavedReplies() {
  const t = useT();
  const replies = useSavedReplies();
  // The id of the saved reply in the form. "" for a new one, null while there is no form.
  const [editing, setEditing] = useState<string | null>(null);
  // The button gets the focus when the element that has the focus is removed, such as the form.
  const addButton = useRef<HTMLButtonElement>(null);
  const remove = useDeleteSavedReply();
  const restore = useRestoreSavedReply();
  const fail = (error: unknown) => errorToast(t, messageOf(error));

  function close() {
    setEditing(null);
    addButton.current?.focus();
  }

  function removeReply(reply: SavedReply) {
    remove.mutateAsync(reply.id).then(() => {
      addButton.current?.focus();
      stackedToast({
        title: t("messages.saved.toast.deleted"),
        action: {
          label: t("common.undo"),
          onClick: () => void restore.mutateAsync(reply).catch(fail),
        },
      });
    }, fail);
  }

  return (
    <AdminPage
      title={t("messages.saved.title")}
      action={
        <>
          <BoxLink>
            <ArrowLeft aria-hidden="true" size={20} strokeWidth={1.75} />
            {t("messages.back")}
          </BoxLink>
          <Button ref={addButton} size="sm" className="self-start" onClick={() => setEditing("")}>
            <Plus aria-hidden="true" size={20} strokeWidth={1.75} />
            {t("messages.saved.add")}
          </Button>
        </>
      }
    >
      <p className="text-ink2 mb-6 max-w-[33em]">{t("messages.saved.intro")}</p>
      {editing === "" && <SavedReplyForm onClose={close} />}
      <AdminListState query={replies} empty={t("messages.saved.empty")}>
        {(shown) => (
          <SavedReplyList
            replies={shown}
            editing={editing}
            onEdit={setEditing}
            onDelete={removeReply}
            onClose={close}
          />
        )}
      </AdminListState>
    </AdminPage>
  );
}

type SavedReplyListProps = {
  replies: SavedReply[];
  /** The id of the reply that is in the form. */
  editing: string | null;
  onEdit(id: string): void;
  onDelete(reply: SavedReply): void;
  onClose(): void;
};

/** The saved replies in their order, which the owner changes by arrow buttons. */
function SavedReplyList({ replies, editing, onEdit, onDelete, onClose }: SavedReplyListProps) {
  const t = useT();
  const { rows, move, announcement } = useRowOrder(replies, useMoveSavedReply(), {
    moved: (place) => t("messages.saved.moved", place),
    ordered: t("messages.saved.toast.ordered"),
    failed: t("messages.saved.toast.orderFailed"),
  });
  const atEnd = "aria-disabled:text-edge aria-disabled:cursor-default aria-disabled:bg-transparent";
  return (
    <>
      <ul className="border-ink border-t-2">
        {rows.map((reply, index) => (
          <li key={reply.id} className="border-line border-b">
            {editing === reply.id ? (
              <SavedReplyForm reply={reply} onClose={onClose} />
            ) : (
              <div className="flex flex-wrap items-center gap-x-2 gap-y-1 py-3 sm:flex-nowrap">
                <div className="min-w-0 flex-[1_1_100%] sm:flex-1">
                  <h2 className="font-[520] break-words">{reply.title}</h2>
                  <p className="text-ink2 truncate text-sm leading-[27px]">
                    {reply.text_en || reply.text_pt}
                  </p>
                </div>
                <IconButton
                  label={t("messages.saved.up", { title: reply.title })}
                  className={atEnd}
                  aria-disabled={index === 0 || undefined}
                  onClick={() => move(reply.id, index - 1)}
                >
                  <ArrowUp aria-hidden="true" size={20} strokeWidth={1.5} />
                </IconButton>
                <IconButton
                  label={t("messages.saved.down", { title: reply.title })}
                  className={atEnd}
                  aria-disabled={index === rows.length - 1 || undefined}
                  onClick={() => move(reply.id, index + 1)}
                >
                  <ArrowDown aria-hidden="true" size={20} strokeWidth={1.5} />
                </IconButton>
                <IconButton
                  label={t("messages.saved.edit", { title: reply.title })}
                  onClick={() => onEdit(reply.id)}
                >
                  <Pencil aria-hidden="true" size={20} strokeWidth={1.5} />
                </IconButton>
                <IconButton
                  label={t("messages.saved.delete", { title: reply.title })}
                  className="text-danger!"
                  onClick={() => onDelete(reply)}
                >
                  <Trash2 aria-hidden="true" size={20} strokeWidth={1.5} />
                </IconButton>
              </div>
            )}
          </li>
        ))}
      </ul>
      <p role="status" className="sr-only">
        {announcement}
      </p>
    </>
  );
}
