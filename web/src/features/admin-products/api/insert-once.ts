import type { ProductPayload } from "@/features/admin-products/schema";
import type { OwnerBackend } from "@/lib/backend";
import { isTransient, waitForRetry } from "@/lib/upload/retry";

/**
 * Inserts a work (a row of products) with this id, unless a row with the id exists. So a retry is safe: if the response of the first
 * attempt was lost, the second one inserts nothing. Temporary failures are retried. Other errors are thrown.
 */
export async function insertOnce(
  backend: OwnerBackend,
  id: string,
  payload: ProductPayload,
): Promise<void> {
  for (let failures = 1; ; failures++) {
    const { error, status } = await backend
      .from("products")
      .upsert({ id, ...payload }, { onConflict: "id", ignoreDuplicates: true });
    if (!error) return;
    if (!isTransient(status) || !(await waitForRetry(failures))) throw error;
  }
}
