import { useQueryClient } from "@tanstack/react-query";
import { useCreateProduct } from "@/features/admin-products/api/create-product";
import { useUpdateProduct } from "@/features/admin-products/api/update-product";
import { releasedFiles } from "@/features/admin-products/released-files";
import {
  productPayload,
  type ProductMedia,
  type ProductValues,
} from "@/features/admin-products/schema";
import { useUploadToasts } from "@/components/upload/use-upload-toasts";
import { useOwnerBackend } from "@/lib/backend";
import { BUCKETS } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import { queryKeys } from "@/lib/query-keys";
import { areaToast } from "@/lib/toast";
import type { Product } from "@/lib/types";
import { fileFacts } from "@/lib/upload/media-types";
import { removeObjects } from "@/lib/upload/remove-objects";

/** Saves the row, says how it went, then lets go of the files that the saved row no longer shows. */
export function useSaveProduct(product: Product | null) {
  const t = useT();
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const create = useCreateProduct();
  const update = useUpdateProduct();
  const tellUpload = useUploadToasts();

  async function release(media: ProductMedia, uploaded: readonly string[]) {
    const all = cache.getQueryData<Product[]>(queryKeys.products.admin) ?? [];
    const others = all.filter(({ id }) => id !== product?.id);
    const urls = releasedFiles(product, uploaded, media, others);
    try {
      await removeObjects(backend, BUCKETS.products, urls);
    } catch {
      const kind = fileFacts({ name: urls[0]!, type: "" })?.kind ?? "image";
      tellUpload({ reason: "remove-failed", kind });
    }
  }

  /** True once the row is stored; a file that could not be removed does not make the save fail. */
  async function save(
    values: ProductValues,
    media: ProductMedia,
    uploaded: readonly string[],
  ): Promise<boolean> {
    const payload = productPayload(values, media);
    try {
      if (product) await update.mutateAsync({ id: product.id, payload });
      else await create.mutateAsync(payload);
    } catch {
      areaToast({
        title: t("common.error"),
        description: t("products.toast.saveError"),
        destructive: true,
      });
      return false;
    }
    areaToast({ title: t(product ? "products.toast.updated" : "products.toast.created") });
    void release(media, uploaded);
    return true;
  }

  return { save, saving: create.isPending || update.isPending };
}
