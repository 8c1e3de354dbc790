import { CONTACT_REASONS, CONTACT_STATUSES } from "@/lib/constants";
import { oneOf, readPage, readQuery, withValues } from "@/lib/list-address";
import { containing } from "@/lib/text-filter";
import type { ContactReason, ContactStatus } from "@/lib/types";

/** Which messages the list shows; all of it stands in the address. */
export type MessageView = {
  q: string;
  status: ContactStatus | "";
  reason: ContactReason | "";
  page: number;
};

/** Reads the address; what it does not know counts as not said. */
export function readView(search: URLSearchParams): MessageView {
  return {
    q: readQuery(search),
    status: oneOf(CONTACT_STATUSES, search.get("status")) ?? "",
    reason: oneOf(CONTACT_REASONS, search.get("reason")) ?? "",
    page: readPage(search),
  };
}

/** The address's search for a view, without an opened message. */
export function writeView(search: URLSearchParams, view: MessageView): URLSearchParams {
  const next = withValues(search, {
    q: [view.q, ""],
    status: [view.status, ""],
    reason: [view.reason, ""],
    page: [String(view.page), "1"],
  });
  next.delete("message");
  return next;
}

export const isFiltered = (view: MessageView): boolean =>
  view.q.trim() !== "" || view.status !== "" || view.reason !== "";

/** The condition that finds a text in a message, for the query builder's `or`. */
export const searchCondition = (q: string): string =>
  containing(["name", "email", "message"], q.trim()).join(",");
