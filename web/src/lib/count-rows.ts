import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

/** The query keys of the counts, by table. The table of the messages is contact_submissions. */
const countKeys = {
  products: queryKeys.products.count,
  cover_images: queryKeys.covers.count,
  reviews: queryKeys.reviews.count,
  contact_submissions: queryKeys.messages.count,
};

/** A table whose rows are counted. */
export type CountedTable = keyof typeof countKeys;

/** The number of rows of a table. */
export function useRowCount(table: CountedTable) {
  return useCount(table, countKeys[table]);
}

/** The number of unread messages, which are those with the status "new". */
export function useUnreadCount() {
  return useCount("contact_submissions", [...countKeys.contact_submissions, "unread"], "new");
}

/** The number of rows of a table. With `status`, only the rows with this status are counted. */
function useCount(table: CountedTable, queryKey: readonly string[], status?: string) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey,
    staleTime: 0, // new messages arrive at any time
    queryFn: async ({ signal }) => {
      const rows = backend.from(table).select("id", { count: "exact", head: true });
      const counted = status === undefined ? rows : rows.filter("status", "eq", status);
      const { count, error } = await counted.abortSignal(signal);
      if (error) throw error;
      // The error of a HEAD request has no message, because there is no body. A missing count is an error too.
      if (count === null) throw new Error("The response has no count");
      return count;
    },
  });
}
