import { queryKeys } from "@/lib/query-keys";

const { all, admin } = queryKeys.messages;

/**
 * The query keys of messages for the admin area. An id is the id of a message; it also names the conversation about the message, its
 * commission and the review of the commission. The keys are not in lib/query-keys.ts, because visitors download that file.
 */
export const messageKeys = {
  all,
  admin,
  adminPage: (view: object) => [...admin, view] as const,
  byId: (id: string) => [...all, "one", id] as const,
  /** The number of conversations in each state. */
  states: [...all, "states"] as const,
  /** The number of unread messages together with the newest message. */
  newMessages: [...all, "arrivals"] as const,
  conversation: (id: string) => [...all, "conversation", id] as const,
  commission: (id: string) => [...all, "commission", id] as const,
  /** The board, which shows the commissions by stage. */
  board: [...all, "board"] as const,
  /** The board with a higher limit of commissions in these stages. */
  boardWith: (stages: readonly string[]) => [...all, "board", stages] as const,
  /** The review of a finished commission. */
  review: (id: string) => [...all, "review", id] as const,
  waitingReviews: [...all, "waiting-reviews"] as const,
  /** The notices: mails and webhooks about messages. */
  notices: [...all, "notices"] as const,
  noticesOf: (ids: readonly string[]) => [...all, "notices", ids] as const,
  savedReplies: ["saved_replies"] as const,
  quarantine: ["contact_quarantine"] as const,
  quarantinePage: (page: number) => ["contact_quarantine", page] as const,
};
