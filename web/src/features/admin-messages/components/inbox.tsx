import { useEffect, useMemo, useState } from "react";
import { useDeleteMessage } from "@/features/admin-messages/api/delete-message";
import { useArtworksById } from "@/features/admin-messages/api/get-message-artwork";
import { useMessage } from "@/features/admin-messages/api/get-message";
import { useMessages } from "@/features/admin-messages/api/list-messages";
import { useUndeliveredNotices } from "@/features/admin-messages/api/message-notices";
import { BoardLink } from "@/features/admin-messages/components/board-link";
import { BoxLink } from "@/features/admin-messages/components/box-link";
import { FloodNotice } from "@/features/admin-messages/components/flood-notice";
import { MessageDetail } from "@/features/admin-messages/components/message-detail";
import { MessageDialog } from "@/features/admin-messages/components/message-dialog";
import { MessageFilters } from "@/features/admin-messages/components/message-filters";
import { MessageList } from "@/features/admin-messages/components/message-list";
import { MessagePager } from "@/features/admin-messages/components/message-pager";
import { QuarantineLink } from "@/features/admin-messages/components/quarantine-link";
import { RowArtwork } from "@/features/admin-messages/components/row-artwork";
import { StateFilter } from "@/features/admin-messages/components/state-filter";
import { StatusBadge } from "@/features/admin-messages/components/status-badge";
import { usePinnedRow } from "@/features/admin-messages/hooks/use-pinned-row";
import { useMarkRead } from "@/features/admin-messages/hooks/use-mark-read";
import { useStatusChange } from "@/features/admin-messages/hooks/use-status-change";
import { useOpenedMessage } from "@/features/admin-messages/hooks/use-opened-message";
import { isFiltered, readView, writeView } from "@/features/admin-messages/message-view";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { DeleteDialog } from "@/components/ui/delete-dialog";
import { useLanguage, useT } from "@/lib/i18n";
import { useListUrl } from "@/lib/list-url";
import { relativeTime } from "@/lib/owner-dates";
import type { ContactSubmission, MessageNotice } from "@/lib/types";
import { useMediaQuery } from "@/lib/use-media-query";

// Constants, so that each render passes the same empty arrays.
const noRows: ContactSubmission[] = [];
const noNotices: MessageNotice[] = [];

/**
 * Returns the text under the visitor's name in the list: the beginning of the last reply, or the message if nobody has replied.
 * `youLabel` ("You") is put before a reply of an owner. `picturesLabel` replaces the text of a reply that has only pictures.
 */
function lastTextOf(row: ContactSubmission, youLabel: string, picturesLabel: string): string {
  if (!row.last_author) return row.message;
  const text = row.last_text || picturesLabel;
  return row.last_author === "owner" ? `${youLabel}: ${text}` : text;
}

/**
 * The inbox, a part of the messages page: the list of messages (rows of contact_submissions) with its filters and pages. The opened
 * message is beside the list. On phones it is in a dialog.
 */
export function Inbox() {
  const t = useT();
  const { language } = useLanguage();
  const { view, change } = useListUrl(readView, writeView);
  const messages = useMessages(view);
  // Whether the opened message is in a dialog, as on phones, and not beside the list.
  const inDialog = useMediaQuery("(width < 48rem)");
  const { openedId, open, close } = useOpenedMessage(inDialog);
  const { data: fetchedMessage, isFetching } = useMessage(openedId);
  // The message whose deletion the owner is asked to confirm; null while the question is closed.
  const [deleting, setDeleting] = useState<ContactSubmission | null>(null);
  const { mutateAsync: remove } = useDeleteMessage();

  const { rows = noRows, total = 0 } = messages.data ?? {};
  // The opened message. If it could not be fetched, for example without a network, its row of the list is used.
  const opened =
    fetchedMessage === undefined
      ? (rows.find(({ id }) => id === openedId) ?? null)
      : fetchedMessage;
  // The rows of the list. The opened message stays among them even if it no longer matches the filter.
  const listedRows = usePinnedRow(rows, opened, JSON.stringify(view));
  // Sorted, so that another order of the list does not change the query key.
  const ids = useMemo(() => listedRows.map(({ id }) => id).toSorted(), [listedRows]);
  const undelivered = useUndeliveredNotices(ids).data;
  const workIds = useMemo(
    () => [...new Set(listedRows.flatMap((row) => row.artwork_id ?? []))].toSorted(),
    [listedRows],
  );
  const works = useArtworksById(workIds).data;

  // If the page in the URL is beyond the last page, the first page is shown instead.
  const isBeyondLastPage =
    messages.isSuccess && !messages.isPlaceholderData && rows.length === 0 && view.page > 1;
  useEffect(() => {
    if (isBeyondLastPage) change({ page: 1 }, { replace: true });
  }, [isBeyondLastPage, change]);

  const setStatus = useStatusChange();
  useMarkRead(opened, isFetching, setStatus);

  const detail = opened && (
    <MessageDetail
      key={opened.id}
      message={opened}
      undelivered={undelivered?.[opened.id] ?? noNotices}
      onStatus={(status) => setStatus(opened.id, status)}
      onDelete={() => setDeleting(opened)}
      inDialog={inDialog}
    />
  );
  const filtered = isFiltered(view);
  const emptyText = filtered ? t("messages.noneFound") : t("messages.empty");
  const showAll = filtered && (
    <Button variant="outline" onClick={() => change({ q: "", state: "", status: "", reason: "" })}>
      {t("messages.showAll")}
    </Button>
  );

  return (
    <AdminPage
      title={t("nav.messages")}
      action={
        <div className="flex flex-wrap gap-3">
          <BoardLink />
          <BoxLink box="replies">{t("messages.saved.title")}</BoxLink>
          <BoxLink box="data">{t("messages.data.title")}</BoxLink>
          <QuarantineLink />
        </div>
      }
    >
      <FloodNotice />
      {(filtered || total > 0 || messages.isPending) && (
        <>
          <MessageFilters view={view} onChange={change} />
          <StateFilter state={view.state} onChange={(state) => change({ state })} />
        </>
      )}
      <AdminListState
        query={{ ...messages, data: messages.data && listedRows }}
        empty={emptyText}
        emptyAction={showAll}
        // The opened message is shown also beside an empty list: after a reload it may be the only one, and not match the filter.
        notEmpty={!inDialog && opened !== null}
      >
        {(shown) => (
          <>
            <div className="border-ink border-t-2 md:grid md:grid-cols-[5fr_7fr]">
              {shown.length > 0 ? (
                <MessageList
                  label={t("nav.messages")}
                  messages={shown.map((row) => ({
                    ...row,
                    message: lastTextOf(row, t("messages.you"), t("messages.pictures")),
                    subtitle: (
                      <>
                        {t(`reason.${row.reason}`)}
                        {row.language && (
                          <>
                            {" · "}
                            <span aria-hidden="true">{row.language.toUpperCase()}</span>
                            <span className="sr-only">
                              {t(`settings.language.${row.language}`)}
                            </span>
                          </>
                        )}
                        {` · ${relativeTime(row.last_at ?? row.created_at, language)}`}
                      </>
                    ),
                    picture: row.artwork_id && works?.[row.artwork_id] && (
                      <RowArtwork work={works[row.artwork_id]!} />
                    ),
                    unread: row.status === "new",
                    badge: (
                      <span className="flex flex-none gap-2">
                        {row.state === "done" && (
                          <Badge tone="neutral">{t("messages.state.done")}</Badge>
                        )}
                        <StatusBadge status={row.status} />
                      </span>
                    ),
                    noticeFailed:
                      undelivered?.[row.id]?.some(({ state }) => state === "failed") ?? false,
                  }))}
                  openedId={openedId}
                  onOpen={open}
                />
              ) : (
                <div className="md:border-line flex min-w-0 flex-col items-start gap-6 py-6 md:border-r md:pr-8">
                  <p className="text-lead">{emptyText}</p>
                  {showAll}
                </div>
              )}
              {!inDialog && (
                <div className="min-w-0 py-7 pl-8 max-md:hidden lg:pl-12">
                  <div className="sticky top-[92px]">
                    {detail ?? <p className="text-ink2">{t("messages.choose")}</p>}
                  </div>
                </div>
              )}
            </div>
            <MessagePager
              page={view.page}
              total={total}
              onPage={(page) => {
                change({ page });
                window.scrollTo({ top: 0 });
              }}
            />
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
        remove={({ id }) => remove(id)}
        onDeleted={close}
        onClose={() => setDeleting(null)}
      />
    </AdminPage>
  );
}
