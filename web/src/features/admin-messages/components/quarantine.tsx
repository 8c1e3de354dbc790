import { useEffect, useState } from "react";
import { ArrowLeft } from "lucide-react";
import { useSearchParams } from "react-router";
import { useResolveQuarantined, useQuarantine } from "@/features/admin-messages/api/quarantine";
import { MessageDialog } from "@/features/admin-messages/components/message-dialog";
import { MessageList } from "@/features/admin-messages/components/message-list";
import { MessagePager } from "@/features/admin-messages/components/message-pager";
import { QuarantinedDetail } from "@/features/admin-messages/components/quarantined-detail";
import { useOpenedMessage } from "@/features/admin-messages/hooks/use-opened-message";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { buttonClasses } from "@/components/ui/button-classes";
import { DeleteDialog } from "@/components/ui/delete-dialog";
import { Link } from "@/components/ui/link";
import { errorToast } from "@/lib/error-toast";
import { useT } from "@/lib/i18n";
import { readPage, withValues } from "@/lib/list-url";
import { stackedToast } from "@/lib/toast";
import { useMediaQuery } from "@/lib/use-media-query";

/**
 * The quarantine, a part of the messages page. It lists the messages that look like spam or are from a flood (too many messages in an
 * hour). The owner can read a message, restore it (move it to the inbox) or delete it (docs/product.md, rule 13).
 */
export function Quarantine() {
  const t = useT();
  const [search, setSearch] = useSearchParams();
  const page = readPage(search);
  const messages = useQuarantine(page);
  // Whether the opened message is in a dialog, as on phones, and not beside the list.
  const inDialog = useMediaQuery("(width < 48rem)");
  const { openedId, open, close } = useOpenedMessage(inDialog);
  // The id of the message whose deletion the owner is asked to confirm; null while the question is closed.
  const [deleting, setDeleting] = useState<string | null>(null);
  const restore = useResolveQuarantined("restore");
  const { mutateAsync: remove } = useResolveQuarantined("delete");
  const { rows, total = 0 } = messages.data ?? {};
  const opened = rows?.find(({ id }) => id === openedId) ?? null;

  const goToPage = (next: number, { replace = false } = {}) =>
    setSearch(
      (current) => {
        const params = withValues(current, { page: [String(next), "1"] }); // page 1 is not named in the URL
        params.delete("message");
        return params;
      },
      { replace },
    );
  // If the page in the URL is beyond the last page, the first page is shown instead.
  const isBeyondLastPage =
    messages.isSuccess && !messages.isPlaceholderData && rows?.length === 0 && page > 1;
  // Without a dependency list, because goToPage is a new function in each render.
  useEffect(() => {
    if (isBeyondLastPage) goToPage(1, { replace: true });
  });

  const detail = opened && (
    <QuarantinedDetail
      key={opened.id}
      message={opened}
      restoring={restore.isPending}
      onRestore={() =>
        // The toasts are always shown. `close` changes the URL, so it is not called if the owner has left the page by then.
        void restore.mutateAsync(opened.id, { onSuccess: close }).then(
          () => stackedToast({ title: t("messages.toast.restored") }),
          () => errorToast(t, t("messages.toast.restoreError")),
        )
      }
      onDelete={() => setDeleting(opened.id)}
      inDialog={inDialog}
    />
  );

  const inboxParams = new URLSearchParams(search);
  for (const name of ["box", "page", "message"]) inboxParams.delete(name);

  return (
    <AdminPage
      title={t("messages.quarantine")}
      action={
        <Link
          to={{ search: inboxParams.toString() }}
          className={buttonClasses({ variant: "outline", size: "sm", className: "self-start" })}
        >
          <ArrowLeft aria-hidden="true" size={20} strokeWidth={1.75} />
          {t("messages.back")}
        </Link>
      }
    >
      <p className="text-ink2 mb-6 max-w-[33em]">{t("messages.quarantineIntro")}</p>
      <AdminListState query={{ ...messages, data: rows }} empty={t("messages.quarantineEmpty")}>
        {(shown) => (
          <>
            <div className="border-ink border-t-2 md:grid md:grid-cols-[5fr_7fr]">
              <MessageList
                label={t("messages.quarantine")}
                messages={shown.map((row) => ({
                  ...row,
                  subtitle: row.email,
                  unread: false,
                  noticeFailed: false,
                }))}
                openedId={openedId}
                onOpen={open}
              />
              {!inDialog && (
                <div className="min-w-0 py-7 pl-8 max-md:hidden lg:pl-12">
                  <div className="sticky top-[92px]">
                    {detail ?? <p className="text-ink2">{t("messages.chooseQuarantined")}</p>}
                  </div>
                </div>
              )}
            </div>
            <MessagePager page={page} total={total} onPage={(next) => goToPage(next)} />
          </>
        )}
      </AdminListState>
      <MessageDialog open={inDialog && opened !== null} onClose={close}>
        {detail}
      </MessageDialog>
      <DeleteDialog
        item={deleting}
        title={t("messages.deleteTitle")}
        question={t("messages.deleteConfirm")}
        deleted={t("messages.toast.deleted")}
        failed={() => t("messages.toast.deleteError")}
        remove={remove}
        onDeleted={close}
        onClose={() => setDeleting(null)}
      />
    </AdminPage>
  );
}
