import { useEffect, useSyncExternalStore } from "react";
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { insertOnce } from "@/features/admin-products/api/insert-once";
import type { Draft } from "@/features/admin-products/draft";
import { DraftBatch } from "@/features/admin-products/draft-batch";
import { persistBatch } from "@/features/admin-products/persist-batch";
import { useUploadToasts } from "@/components/upload/use-upload-toasts";
import { useAuth } from "@/lib/auth";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { useBoot, type Boot } from "@/lib/boot";
import { BUCKETS } from "@/lib/constants";
import { BATCH, draftName } from "@/lib/drafts";
import { useT } from "@/lib/i18n";
import { queryKeys } from "@/lib/query-keys";
import { areaToast } from "@/lib/toast";
import { UploadError } from "@/lib/upload/upload-error";
import { createUploader } from "@/lib/upload/uploader";

// The batch of each backend client. It is not in the state of a component, so that uploads continue on other admin pages.
const batches = new WeakMap<OwnerBackend, DraftBatch>();

function batchOf(backend: OwnerBackend, boot: Boot, cache: QueryClient): DraftBatch {
  let batch = batches.get(backend);
  if (!batch) {
    const { upload, discard } = createUploader(backend, boot, BUCKETS.products);
    const newBatch = new DraftBatch({
      upload,
      discard,
      save: (id, payload) => insertOnce(backend, id, payload),
    });
    persistForSession(backend, newBatch);
    newBatch.listen(({ what }) => {
      if (what === "saved") void cache.invalidateQueries({ queryKey: queryKeys.products.all });
    });
    batches.set(backend, newBatch);
    batch = newBatch;
  }
  return batch;
}

/** Clears the batch when the session ends, and restores the stored drafts of the user who signs in. */
function persistForSession(backend: OwnerBackend, batch: DraftBatch): void {
  let owner: string | undefined;
  let stop: (() => void) | undefined;
  backend.auth.onAuthStateChange((event, session) => {
    const next = session?.user.id;
    if (next === owner) return;
    stop?.();
    stop = undefined;
    if (owner || event === "SIGNED_OUT") batch.clear();
    owner = next;
    if (next) stop = persistBatch(batch, draftName(next, BATCH));
  });
}

export type Drafts = { drafts: readonly Draft[]; batch: DraftBatch; add(files: File[]): void };

/** The drafts and their batch. Shows toasts about failures and saved works while mounted. */
export function useDraftBatch(): Drafts {
  const t = useT();
  const cache = useQueryClient();
  const { role } = useAuth();
  const showProblem = useUploadToasts();
  const batch = batchOf(useOwnerBackend(), useBoot(), cache);
  const drafts = useSyncExternalStore(batch.subscribe, batch.snapshot);

  useEffect(() => {
    const stop = batch.listen((event) => {
      switch (event.what) {
        case "refused":
          return showProblem({ reason: event.reason, name: event.names.join(", ") });
        case "upload-failed": {
          const { error } = event;
          const denied = error instanceof UploadError && [401, 403].includes(error.status);
          return showProblem(
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
  }, [batch, t, showProblem]);

  function add(files: File[]) {
    if (role === "admin") batch.add(files);
    else showProblem({ reason: "upload-denied", kind: "image" });
  }

  return { drafts, batch, add };
}
