import type { ProductPayload } from "@/features/admin-products/schema";
import type { OwnerBackend } from "@/lib/backend";
import { insertOnce } from "@/lib/editing/insert-once";
import { SERVER_TIME } from "@/lib/editing/update-if-unchanged";
import { isTransient, waitForRetry } from "@/lib/upload/retry";

/** Inserts a work (a row of products) with this id by insertOnce, and returns the response. */
export function insertWork(backend: OwnerBackend, id: string, payload: ProductPayload) {
  // A published work has no time yet. The time is sent, because an earlier attempt may have stored the work as a draft.
  const { published_at = SERVER_TIME } = payload;
  return insertOnce(backend, "products", id, { ...payload, published_at });
}

/** Like insertWork, but retries temporary failures, and throws other errors. */
export async function insertWorkWithRetries(
  backend: OwnerBackend,
  id: string,
  payload: ProductPayload,
): Promise<void> {
  for (let failures = 1; ; failures++) {
    const { error, status } = await insertWork(backend, id, payload);
    if (!error) return;
    if (!isTransient(status) || !(await waitForRetry(failures))) throw error;
  }
}
