import type { ProductPayload } from "@/features/admin-products/schema";
import type { OwnerBackend } from "@/lib/backend";
import { isPassing, mayTryAgain } from "@/lib/upload/connection";

/** Creates the row with this id unless it is there already, through cut lines: an answer may be lost, a row never doubles. */
export async function saveDraft(
  backend: OwnerBackend,
  id: string,
  payload: ProductPayload,
): Promise<void> {
  for (let lost = 1; ; lost++) {
    const { error, status } = await backend
      .from("products")
      .upsert({ id, ...payload }, { onConflict: "id", ignoreDuplicates: true });
    if (!error) return;
    if (!isPassing(status) || !(await mayTryAgain(lost))) throw error;
  }
}
