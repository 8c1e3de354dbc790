import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { queryKeys } from "@/lib/query-keys";

const keys = {
  products: queryKeys.products.count,
  cover_images: queryKeys.covers.count,
  reviews: queryKeys.reviews.count,
  contact_submissions: queryKeys.messages.count,
};

export type CountedTable = keyof typeof keys;

export function useRowCount(table: CountedTable) {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: keys[table],
    staleTime: 0, // visitors write messages while the owner looks elsewhere
    queryFn: async ({ signal }) => {
      const { count, error } = await backend
        .from(table)
        .select("id", { count: "exact", head: true })
        .abortSignal(signal);
      if (error) throw error;
      // A HEAD answer has no body to explain itself; without a count it is a failure.
      if (count === null) throw new Error("The answer carries no count");
      return count;
    },
  });
}

/** How many messages nobody has opened yet. */
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
