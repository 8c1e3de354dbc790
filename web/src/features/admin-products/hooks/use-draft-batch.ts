import { useEffect, useSyncExternalStore } from "react";
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { deleteProducts } from "@/features/admin-products/api/delete-product";
import { insertWorkWithRetries } from "@/features/admin-products/api/insert-work";
import type { Draft } from "@/features/admin-products/draft";
import { DraftBatch } from "@/features/admin-products/draft-batch";
import { persistBatch } from "@/features/admin-products/persist-batch";
import { useUploadToasts } from "@/components/upload/use-upload-toasts";
import { errorToast } from "@/lib/error-toast";
import { useAuth } from "@/lib/auth";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { useBoot, type Boot } from "@/lib/boot";
import { BUCKETS } from "@/lib/constants";
import { BATCH, draftName } from "@/lib/drafts";
import { useUndo } from "@/lib/editing/use-undo";
import { useT } from "@/lib/i18n";
import { queryKeys } from "@/lib/query-keys";
import { stackedToast } from "@/lib/toast";
import { UploadError } from "@/lib/upload/upload-error";
import { createUploader } from "@/lib/upload/uploader";

// When the owner chooses many pictures at once, each picture becomes a draft: a new work that is not saved yet. All drafts together are
// the batch. This file connects the batch with the backend, with the drafts that the browser stores, and with toasts.

// The batch of each backend client. It is not in the state of a component, so that uploads continue on other admin pages.
const batches = new WeakMap<OwnerBackend, DraftBatch>();

/** Returns the batch of a backend client. The first call makes the batch; later calls ignore `boot` and `queryClient`. */
function getBatch(backend: OwnerBackend, boot: Boot, queryClient: QueryClient): DraftBatch {
  let batch = batches.get(backend);
  if (!batch) {
    const { upload, discard } = createUploader(backend, boot, BUCKETS.products);
    const newBatch = new DraftBatch({
      upload,
      discard,
      save: (id, payload) => insertWorkWithRetries(backend, id, payload),
    });
    persistForSession(backend, newBatch);
    // Never unsubscribed, because the batch exists as long as the backend client.
    newBatch.subscribeToEvents(({ type }) => {
      if (type === "saved")
        void queryClient.invalidateQueries({ queryKey: queryKeys.products.all });
    });
    batches.set(backend, newBatch);
    batch = newBatch;
  }
  return batch;
}

/**
 * When a user signs in, restores the drafts that the browser has stored for this user, and from then on stores each change of the batch.
 * When the session ends, stops storing and then clears the batch. So the stored drafts and the uploaded files stay for the next session.
 * Only an explicit sign-out deletes the stored drafts (deletePictureDrafts).
 */
function persistForSession(backend: OwnerBackend, batch: DraftBatch): void {
  let userId: string | undefined;
  let stopPersisting: (() => void) | undefined;
  // Never unsubscribed, because the batch exists as long as the backend client.
  backend.auth.onAuthStateChange((_, session) => {
    const newUserId = session?.user.id;
    if (newUserId === userId) return;
    stopPersisting?.();
    stopPersisting = undefined;
    if (userId) batch.clear();
    userId = newUserId;
    if (newUserId)
      stopPersisting = persistBatch(batch, draftName(newUserId, BATCH /* form name */));
  });
}

/** The drafts, their batch, and `add`, which adds a draft for each picture. `add` refuses pictures if the user is not an owner. */
export type DraftBatchProps = {
  drafts: readonly Draft[];
  batch: DraftBatch;
  add(files: File[]): void;
};

/** Returns the drafts and their batch. While the component is mounted, toasts report failures and saved works. */
export function useDraftBatch(): DraftBatchProps {
  const t = useT();
  const queryClient = useQueryClient();
  const { role } = useAuth();
  const showProblem = useUploadToasts();
  const backend = useOwnerBackend();
  const boot = useBoot();
  const batch = getBatch(backend, boot, queryClient);
  const undoButton = useUndo();
  const drafts = useSyncExternalStore(batch.subscribe, batch.getSnapshot);

  // Shows a toast for each event of the batch.
  useEffect(() => {
    const unsubscribe = batch.subscribeToEvents((event) => {
      switch (event.type) {
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
          return errorToast(t, t("products.toast.saveError"));
        case "saved": {
          const { ids } = event;
          const n = ids.length;
          return stackedToast({
            title: n === 1 ? t("products.toast.created") : t("bulk.saved", { n }),
            action: undoButton(() => deleteProducts(backend, queryClient, ids), {
              title: t("bulk.undone", { n }),
              description: t("bulk.undoneWhere"),
            }),
          });
        }
      }
    });
    return () => void unsubscribe();
  }, [batch, backend, queryClient, undoButton, t, showProblem]);

  function add(files: File[]) {
    if (role === "admin") batch.add(files, boot.site.gallery.types[0]);
    else showProblem({ reason: "upload-denied", kind: "image" });
  }

  return { drafts, batch, add };
}
