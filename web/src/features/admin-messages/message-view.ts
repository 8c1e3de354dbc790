import { CONTACT_REASONS, CONTACT_STATUSES } from "@/lib/constants";
import { oneOf, readPage, readQuery, withValues } from "@/lib/list-url";
import { containing } from "@/lib/text-filter";
import type { ContactReason, ContactStatus, ConversationState } from "@/lib/types";

// This file has the view of the list of messages: its search text, filters and page. It reads the view from the URL and writes it
// there, so that a reload and Back show the same list.

/** The states of conversations (messages with their replies), in the order of the filter. */
export const CONVERSATION_STATES: readonly ConversationState[] = [
  "unread",
  "waiting_me",
  "waiting_them",
  "done",
];

/** What the list shows. `q` is the search text. "" in a field means that the list is not filtered by it. */
export type MessageView = {
  q: string;
  state: ConversationState | "";
  status: ContactStatus | "";
  reason: ContactReason | "";
  page: number;
};

/** Parses the view from the query string of the URL. Unknown values are ignored. */
export function readView(search: URLSearchParams): MessageView {
  return {
    q: readQuery(search),
    state: oneOf(CONVERSATION_STATES, search.get("state")) ?? "",
    status: oneOf(CONTACT_STATUSES, search.get("status")) ?? "",
    reason: oneOf(CONTACT_REASONS, search.get("reason")) ?? "",
    page: readPage(search),
  };
}

/** Returns the query string for a view. The parameter of the opened message is removed, because the new list may lack the message. */
export function writeView(search: URLSearchParams, view: MessageView): URLSearchParams {
  // Each pair is a value and its default. A default is not written to the URL.
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

/** Returns the condition, for the query builder's `or`, that matches messages with this text in name, email or message. */
export const searchCondition = (q: string): string =>
  containing(["name", "email", "message"], q.trim()).join(",");
