import { CONTACT_REASONS, CONTACT_STATUSES } from "@/lib/constants";
import { oneOf, readPage, readQuery, withValues } from "@/lib/list-url";
import { containing } from "@/lib/text-filter";
import type { ContactReason, ContactStatus, ConversationState } from "@/lib/types";

/** The states of conversations, in the order of the filter. */
export const CONVERSATION_STATES: readonly ConversationState[] = [
  "unread",
  "waiting_me",
  "waiting_them",
  "done",
];

/** The view of the list of messages: its search text, filters and page. They are in the URL; "" means no filter. */
export type MessageView = {
  q: string;
  state: ConversationState | "";
  status: ContactStatus | "";
  reason: ContactReason | "";
  page: number;
};

/** Parses the view from the URL; unknown values are ignored. */
export function readView(search: URLSearchParams): MessageView {
  return {
    q: readQuery(search),
    state: oneOf(CONVERSATION_STATES, search.get("state")) ?? "",
    status: oneOf(CONTACT_STATUSES, search.get("status")) ?? "",
    reason: oneOf(CONTACT_REASONS, search.get("reason")) ?? "",
    page: readPage(search),
  };
}

/** The query string of the URL for a view. The opened message is removed, because the new list may not contain it. */
export function writeView(search: URLSearchParams, view: MessageView): URLSearchParams {
  const next = withValues(search, {
    q: [view.q, ""],
    state: [view.state, ""],
    status: [view.status, ""],
    reason: [view.reason, ""],
    page: [String(view.page), "1"],
  });
  next.delete("message");
  return next;
}

/** Whether the view has a search text or a filter. */
export const isFiltered = (view: MessageView): boolean =>
  view.q.trim() !== "" || view.state !== "" || view.status !== "" || view.reason !== "";

/** The condition for the query builder's `or` that matches messages with this text in name, email or message. */
export const searchCondition = (q: string): string =>
  containing(["name", "email", "message"], q.trim()).join(",");
