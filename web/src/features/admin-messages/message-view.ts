import {
  CONTACT_REASONS,
  CONTACT_STATUSES,
  MESSAGE_SEARCH_MAX,
  MESSAGES_PER_PAGE,
} from "@/lib/constants";
import type { ContactReason, ContactStatus } from "@/lib/types";

/** Which messages the list shows; all of it stands in the address. */
export type MessageView = {
  q: string;
  status: ContactStatus | "";
  reason: ContactReason | "";
  page: number;
};

const oneOf = <T extends string>(list: readonly T[], text: string | null): T | "" =>
  list.find((entry) => entry === text) ?? "";

export function readPage(search: URLSearchParams): number {
  const page = Number(search.get("page"));
  return Number.isInteger(page) && page > 1 && page < 100_000 ? page : 1;
}

/** Reads the address; what it does not know counts as not said. */
export function readView(search: URLSearchParams): MessageView {
  return {
    q: (search.get("q") ?? "").slice(0, MESSAGE_SEARCH_MAX),
    status: oneOf(CONTACT_STATUSES, search.get("status")),
    reason: oneOf(CONTACT_REASONS, search.get("reason")),
    page: readPage(search),
  };
}

/** The address's search for a view, without an opened message; what else stands in it (the language) stays. */
export function writeView(search: URLSearchParams, view: MessageView): URLSearchParams {
  const next = new URLSearchParams(search);
  const set = (name: string, value: string, preset: string) =>
    value === preset ? next.delete(name) : next.set(name, value);
  set("q", view.q, "");
  set("status", view.status, "");
  set("reason", view.reason, "");
  set("page", String(view.page), "1");
  next.delete("message");
  return next;
}

export const isFiltered = (view: MessageView): boolean =>
  view.q.trim() !== "" || view.status !== "" || view.reason !== "";

export const pageCount = (total: number): number =>
  Math.max(1, Math.ceil(total / MESSAGES_PER_PAGE));

/**
 * The condition that finds a text, for the query builder's `or`. The marks of LIKE are taken literally; the wire
 * form knows no way to write a star, so that it stands for any one character.
 */
export function searchCondition(q: string): string {
  const literal = q
    .trim()
    .replace(/[\\%_]/g, "\\$&")
    .replaceAll("*", "_");
  const quoted = `"${`%${literal}%`.replace(/[\\"]/g, "\\$&")}"`;
  return ["name", "email", "message"].map((column) => `${column}.ilike.${quoted}`).join(",");
}
