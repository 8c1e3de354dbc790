import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/** The query key of each table's count. */
const countKeys = {
  products: queryKeys.products.count,
  cover_images: queryKeys.covers.count,
  reviews: queryKeys.reviews.count,
  contact_submissions: queryKeys.messages.count,
};

export type CountedTable = keyof typeof countKeys;

/** The number of rows of a table. */
export function useRowCount(table: CountedTable) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: countKeys[table],
    staleTime: 0, // new messages arrive at any time
    queryFn: async ({ signal }) => {
      const { count, error } = await backend
        .from(table)
        .select("id", { count: "exact", head: true })
        .abortSignal(signal);
      if (error) throw error;
      // The error of a HEAD request has no message, because there is no body. A missing count is an error too.
      if (count === null) throw new Error("The answer carries no count");
      return count;
    },
  });
}

/** The number of unread messages. */
export function useUnreadCount() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: [...queryKeys.messages.count, "unread"],
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const { count, error } = await backend
        .from("contact_submissions")
        .select("id", { count: "exact", head: true })
        .eq("status", "new")
        .abortSignal(signal);
      if (error) throw error;
      if (count === null) throw new Error("The answer carries no count");
      return count;
    },
  });
}
