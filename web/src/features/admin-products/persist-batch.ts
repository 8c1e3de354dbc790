import type { Draft } from "@/features/admin-products/draft";
import type { DraftBatch } from "@/features/admin-products/draft-batch";
import { visibilityValues } from "@/features/admin-products/visibility";
import { lockSavedDraft, lockNewDraft } from "@/lib/draft-lock";
import { deleteFile, loadFiles, saveFile } from "@/lib/draft-files";
import { loadDraft, deleteDraft, saveDraft } from "@/lib/drafts";
import { renditionUrl } from "@/lib/media";

// Stores the drafts of a batch (new works that the owner makes from many pictures together) in the browser, so that they survive a
// reload.

/**
 * What the browser stores of one draft (lib/drafts.ts). `name` is the name of the picture's file. The file is stored separately
 * (lib/draft-files.ts) until it is uploaded.
 */
type PersistedDraft = Pick<Draft, "id" | "url" | "attempted" | "values"> & { name: string };

/**
 * Restores the drafts that the browser has stored, and from then on stores each change of the batch. Returns a function that stops
 * storing changes; the stored drafts stay. `baseName` is the name under which the first tab stores drafts. Each further tab uses a
 * name made from `baseName`. A tab locks its name, so that two tabs do not write the same drafts.
 */
export function persistBatch(batch: DraftBatch, baseName: string): () => void {
  let stopped = false;
  let stopStoring: (() => void) | undefined;
  void (async () => {
    // Takes the lock of stored drafts that no other tab has open. If there are no such drafts, takes the lock of an unused name.
    const savedLock = await lockSavedDraft(baseName);
    const { name, release } = savedLock ?? (await lockNewDraft(baseName));
    const drafts = savedLock ? await loadDrafts(name) : [];
    if (stopped) {
      release();
      return;
    }
    batch.restore(drafts);
    const unsubscribe = storeChanges(
      batch,
      name,
      new Set(drafts.filter(needsStoredFile).map(({ id }) => id)),
    );
    stopStoring = () => {
      unsubscribe();
      release();
    };
  })();
  return () => {
    stopped = true;
    stopStoring?.();
  };
}

/** Whether the browser must store the file of a draft: the file is neither uploaded nor missing. */
const needsStoredFile = ({ url, state }: Draft) => url === null && state !== "missing";

/** Stores the drafts and files of a batch on each change. `storedFileIds` has the ids of the drafts whose files are stored. */
function storeChanges(batch: DraftBatch, name: string, storedFileIds: Set<string>): () => void {
  let lastWritten = "";
  const write = () => {
    const drafts = batch.getSnapshot();
    const filesToStore = new Map(drafts.filter(needsStoredFile).map(({ id, file }) => [id, file]));
    for (const [id, file] of filesToStore) {
      if (storedFileIds.has(id)) continue;
      storedFileIds.add(id);
      void saveFile(name, id, file);
    }
    for (const id of storedFileIds) {
      if (filesToStore.has(id)) continue;
      storedFileIds.delete(id);
      void deleteFile(name, id);
    }
    const persisted = drafts.map(({ id, file, url, attempted, values }): PersistedDraft => {
      return { id, name: file.name, url, attempted, values };
    });
    // Often nothing has changed: the batch also notifies of the progress of uploads, which is not stored.
    const text = JSON.stringify(persisted);
    if (text === lastWritten) return;
    lastWritten = text;
    if (persisted.length > 0) saveDraft(name, persisted);
    else deleteDraft(name);
  };
  write();
  return batch.subscribe(write);
}

/** The stored drafts with this name. */
async function loadDrafts(name: string): Promise<Draft[]> {
  const rows = (loadDraft(name) as PersistedDraft[] | undefined) ?? [];
  const files = await loadFiles(name);
  return Promise.all(
    rows.map(async ({ id, name: fileName, url, attempted, values }): Promise<Draft> => {
      const storedFile = files.get(id);
      const uploadedUrl = url !== null && (await fileExists(url)) ? url : null;
      return {
        id,
        // An empty file stands for a file that is uploaded already or missing.
        file: storedFile ?? new File([], fileName),
        preview: uploadedUrl && renditionUrl(uploadedUrl, "width=320"),
        state: uploadedUrl ? "uploaded" : storedFile ? "waiting" : "missing",
        progress: uploadedUrl ? 100 : 0,
        url: uploadedUrl,
        saveRequested: false,
        attempted,
        // Drafts that an earlier version has stored have no visibility.
        values: { ...visibilityValues(null), ...values },
      };
    }),
  );
}

/** Whether an uploaded file still exists: the server deletes files without a row after 48 hours. */
async function fileExists(url: string): Promise<boolean> {
  try {
    const { status } = await fetch(url, { method: "HEAD", cache: "no-store" });
    return status < 400 || status >= 500;
  } catch (error) {
    // The network failed, so there is no response. If the file is gone, saving fails.
    console.warn("A file could not be checked", error);
    return true;
  }
}
