import type { NumberedCover } from "@/features/admin-covers/order";
import type { OwnerBackend } from "@/lib/backend";

/**
 * The mutation scope that all changes of covers share (the large pictures and videos at the top of the home page). Mutations
 * of one scope run one after the other, so that no other change happens between reading and writing the order.
 */
export const COVER_SCOPE = { id: "order-covers" };

/** Fetches the ids and numbers of all covers in their current order. */
export async function fetchCoversInOrder(backend: OwnerBackend): Promise<NumberedCover[]> {
  const { data, error } = await backend
    .from("cover_images")
    .select("id,display_order")
    .order("display_order", { ascending: true });
  if (error) throw error;
  return data;
}

/**
 * Numbers the covers from 1 in the order of the ids, in one transaction. Covers whose ids are not in the list follow in
 * their old order.
 */
export async function reorderCovers(backend: OwnerBackend, ids: string[]): Promise<void> {
  const { error } = await backend.rpc("reorder_covers", { ids });
  if (error) throw error;
}
