import { useEffect, useSyncExternalStore } from "react";
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { saveDraft } from "@/features/admin-products/api/save-draft";
import type { Draft } from "@/features/admin-products/draft";
import { DraftBatch } from "@/features/admin-products/draft-batch";
import { useUploadToasts } from "@/components/upload/use-upload-toasts";
import { useAuth } from "@/lib/auth";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { useBoot, type Boot } from "@/lib/boot";
import { BUCKETS } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import { queryKeys } from "@/lib/query-keys";
import { areaToast } from "@/lib/toast";
import { UploadError } from "@/lib/upload/upload-error";
import { createUploader } from "@/lib/upload/uploader";

// One per page: it goes on while the owner looks at other pages of the admin area.
const batches = new WeakMap<OwnerBackend, DraftBatch>();

function batchOf(backend: OwnerBackend, boot: Boot, cache: QueryClient): DraftBatch {
  let batch = batches.get(backend);
  if (!batch) {
    const { upload, discard } = createUploader(backend, boot, BUCKETS.products);
    const made = new DraftBatch({
      upload,
      discard,
      save: (id, payload) => saveDraft(backend, id, payload),
    });
    backend.auth.onAuthStateChange((event) => {
      if (event === "SIGNED_OUT") made.clear();
    });
    made.listen(({ what }) => {
      if (what === "saved") void cache.invalidateQueries({ queryKey: queryKeys.products.all });
    });
    batches.set(backend, made);
    batch = made;
  }
  return batch;
}

export type Drafts = { drafts: readonly Draft[]; batch: DraftBatch; add(files: File[]): void };

/** The drafts, and the toasts about them while this page is shown. */
export function useDraftBatch(): Drafts {
  const t = useT();
  const cache = useQueryClient();
  const { role } = useAuth();
  const tell = useUploadToasts();
  const batch = batchOf(useOwnerBackend(), useBoot(), cache);
  const drafts = useSyncExternalStore(batch.subscribe, batch.snapshot);

  useEffect(() => {
    const stop = batch.listen((event) => {
      switch (event.what) {
        case "refused":
          return tell({ reason: event.reason, name: event.names.join(", ") });
        case "upload-failed": {
          const { error } = event;
          const denied = error instanceof UploadError && [401, 403].includes(error.status);
          return tell(
            denied
              ? { reason: "upload-denied", kind: "image" }
              : { reason: "failed", kind: "image", error },
          );
        }
        case "save-failed":
          return areaToast({
            title: t("common.error"),
            description: t("products.toast.saveError"),
            destructive: true,
          });
        case "saved":
          return areaToast({
            title:
              event.count === 1 ? t("products.toast.created") : t("bulk.saved", { n: event.count }),
          });
      }
    });
    return () => void stop();
  }, [batch, t, tell]);

  function add(files: File[]) {
    if (role === "admin") batch.add(files);
    else tell({ reason: "upload-denied", kind: "image" });
  }

  return { drafts, batch, add };
}
