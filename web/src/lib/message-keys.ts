import { queryKeys } from "@/lib/query-keys";

const { all, admin } = queryKeys.messages;

/**
 * Keys of what surrounds the owner's messages, below theirs. Beside lib/query-keys, which visitors download.
 */
export const messageKeys = {
  all,
  admin,
  adminPage: (view: object) => [...admin, view] as const,
  one: (id: string) => [...all, "one", id] as const,
  /** How many are unread, and the newest of all. */
  arrivals: [...all, "arrivals"] as const,
  notices: [...all, "notices"] as const,
  noticesOf: (ids: readonly string[]) => [...all, "notices", ids] as const,
  quarantine: ["contact_quarantine"] as const,
  quarantinePage: (page: number) => ["contact_quarantine", page] as const,
};
