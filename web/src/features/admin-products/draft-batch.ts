import {
  draftPayload,
  isComplete,
  newDraft,
  type Draft,
  type DraftValues,
} from "@/features/admin-products/draft";
import type { ProductPayload } from "@/features/admin-products/schema";
import { ARTWORK_TYPES, MAX_CONCURRENT_UPLOADS } from "@/lib/constants";
import type { ArtworkType } from "@/lib/types";
import { randomUuid } from "@/lib/upload/file-name";
import { IMAGE_ONLY, refusalOf, type Refusal } from "@/lib/upload/media-types";
import { makeThumbnailUrl } from "@/lib/upload/thumbnail";
import { RefusedFileError } from "@/lib/upload/upload-error";
import type { Uploader } from "@/lib/upload/uploader";

// A batch is the drafts that the owner makes from many pictures together. A draft is a new work that is not stored yet. It has one
// picture, and some fields that the owner edits.

/** An event that a batch reports, so that the page can tell the owner. */
export type BatchEvent =
  /** The files with these names are not accepted. */
  | { type: "refused"; reason: Refusal; names: string[] }
  /** A picture could not be uploaded, or a work could not be saved. */
  | { type: "upload-failed" | "save-failed"; error: unknown }
  /** The works with these ids were saved, and no draft is waiting to be saved. */
  | { type: "saved"; ids: string[] };

/** The functions with which a batch uploads pictures, deletes uploaded files and saves works. */
type BatchServices = Pick<Uploader, "upload" | "discard"> & {
  /**
   * Inserts a work with this id. If an earlier call has already inserted it, stores the values that the draft has changed since then.
   * Rejects if the stored work was changed by anything else.
   */
  save(id: string, payload: ProductPayload): Promise<void>;
};

/** Height of thumbnails in pixels: twice the 60 px that a draft's thumbnail has in the list, for dense screens. */
const THUMBNAIL_PX = 120;

/**
 * A batch of drafts. It uploads at most MAX_CONCURRENT_UPLOADS pictures at the same time, and saves the works one after the other in the
 * order of the drafts. The class is outside React, so that uploads continue while the owner visits other admin pages.
 */
export class DraftBatch {
  private drafts: readonly Draft[] = [];
  private readonly services: BatchServices;
  // The running uploads by the id of their draft.
  private readonly uploads = new Map<string, AbortController>();
  private saving = false;
  // The ids of the works saved since the last "saved" event.
  private savedIds: string[] = [];
  // The types of failures that were reported since the owner's last action. A failure of the same type is not reported again.
  private reportedFailures = new Set<BatchEvent["type"]>();
  // Called after each change of the drafts.
  private readonly changeListeners = new Set<() => void>();
  // Called with each event.
  private readonly eventListeners = new Set<(event: BatchEvent) => void>();

  constructor(services: BatchServices) {
    this.services = services;
  }

  /** Returns the current drafts. Each change makes a new array. */
  readonly getSnapshot = () => this.drafts;

  /** Subscribes to changes of the drafts. Returns a function that unsubscribes. */
  readonly subscribe = (listener: () => void) => {
    this.changeListeners.add(listener);
    return () => this.changeListeners.delete(listener);
  };

  /** Subscribes to events. Returns a function that unsubscribes. */
  readonly subscribeToEvents = (listener: (event: BatchEvent) => void) => {
    this.eventListeners.add(listener);
    return () => this.eventListeners.delete(listener);
  };

  /** Adds a draft for each picture; `type` is the type of the works. A picture named like a draft's missing file replaces that file. */
  add(files: Iterable<File>, type: ArtworkType = ARTWORK_TYPES[0]!): void {
    this.reportedFailures.clear();
    const refused = new Map<Refusal, string[]>();
    const added: Draft[] = [];
    // The files chosen again, by the id of the draft whose file is missing.
    const replacements = new Map<string, File>();
    const missingDrafts = this.drafts.filter(({ state }) => state === "missing");
    for (const file of files) {
      const reason = refusalOf(file, IMAGE_ONLY);
      if (reason) refused.set(reason, [...(refused.get(reason) ?? []), file.name]);
      else {
        const draft = missingDrafts.find(
          ({ id, file: { name } }) => name === file.name && !replacements.has(id),
        );
        if (draft) replacements.set(draft.id, file);
        else added.push(newDraft(randomUuid(), file, type));
      }
    }
    for (const [reason, names] of refused) this.emit({ type: "refused", reason, names });
    if (added.length === 0 && replacements.size === 0) return;
    const withReplacement = (draft: Draft): Draft => {
      const file = replacements.get(draft.id);
      return file ? { ...draft, file, state: "waiting" } : draft;
    };
    this.setDrafts([...this.drafts.map(withReplacement), ...added]);
    for (const { id, file } of added) void this.makePreview(id, file);
    for (const [id, file] of replacements) void this.makePreview(id, file);
    this.startNext();
  }

  /** Prepends drafts that an earlier page load has stored in the browser. */
  restore(drafts: readonly Draft[]): void {
    if (drafts.length === 0) return;
    this.setDrafts([...drafts, ...this.drafts]);
    for (const { id, file, state } of drafts)
      if (state === "waiting") void this.makePreview(id, file);
    this.startNext();
  }

  edit(id: string, values: Partial<DraftValues>): void {
    this.changeDraft(id, (draft) => ({ ...draft, values: { ...draft.values, ...values } }));
  }

  editAll(values: Partial<DraftValues>): void {
    this.setDrafts(
      this.drafts.map((draft) => ({ ...draft, values: { ...draft.values, ...values } })),
    );
  }

  retry(ids: readonly string[]): void {
    this.reportedFailures.clear();
    const chosen = new Set(ids);
    this.setDrafts(
      this.drafts.map((draft) =>
        chosen.has(draft.id) && draft.state === "failed"
          ? { ...draft, state: "waiting", progress: 0 }
          : draft,
      ),
    );
    this.startNext();
  }

  /** Saves drafts, each as soon as its picture is uploaded. Incomplete drafts are not saved. */
  save(ids: readonly string[]): void {
    this.reportedFailures.clear();
    const chosen = new Set(ids);
    this.setDrafts(
      this.drafts.map((draft) => {
        if (!chosen.has(draft.id) || !isComplete(draft)) return draft;
        if (draft.state === "refused" || draft.state === "missing") return draft;
        const state = draft.state === "unsaved" ? "uploaded" : draft.state;
        return { ...draft, state, saveRequested: true };
      }),
    );
    this.startNext();
  }

  /** Removes drafts and deletes their uploaded files. A draft that is being saved is not removed. */
  discard(ids: readonly string[]): void {
    const chosen = new Set(ids);
    const removed = this.drafts.filter(({ id, state }) => chosen.has(id) && state !== "saving");
    const urls: string[] = [];
    for (const draft of removed) {
      this.uploads.get(draft.id)?.abort();
      this.uploads.delete(draft.id);
      if (draft.preview) URL.revokeObjectURL(draft.preview);
      // After an attempt to save, a stored work may refer to the file. If none does, the server deletes the file later.
      if (draft.url && !draft.attempted) urls.push(draft.url);
    }
    this.setDrafts(this.drafts.filter((draft) => !removed.includes(draft)));
    if (urls.length > 0) {
      this.services
        .discard(urls)
        .catch((error: unknown) =>
          console.warn("Unused files could not be deleted; the server deletes them later", error),
        );
    }
    this.startNext();
  }

  /** Removes all drafts and aborts their uploads; for the end of the session. */
  clear(): void {
    for (const controller of this.uploads.values()) controller.abort();
    this.uploads.clear();
    for (const { preview } of this.drafts) if (preview) URL.revokeObjectURL(preview);
    this.savedIds = [];
    this.reportedFailures.clear();
    this.setDrafts([]);
  }

  private startNext(): void {
    for (const draft of this.drafts) {
      if (this.uploads.size >= MAX_CONCURRENT_UPLOADS) break;
      if (draft.state === "waiting") void this.upload(draft);
    }
    void this.saveNext();
  }

  private async upload({ id, file }: Draft): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.uploads.set(id, controller);
    this.changeDraft(id, (draft) => ({ ...draft, state: "uploading", progress: 0 }));
    try {
      const url = await this.services.upload(file, {
        signal,
        onProgress: (progress) => this.changeDraft(id, (draft) => ({ ...draft, progress })),
      });
      if (signal.aborted) return await this.services.discard([url]);
      this.changeDraft(id, (draft) => ({ ...draft, state: "uploaded", progress: 100, url }));
    } catch (error) {
      if (signal.aborted) return;
      const refused = error instanceof RefusedFileError;
      const state = refused ? "refused" : "failed";
      this.changeDraft(id, (draft) => ({
        ...draft,
        state,
        saveRequested: draft.saveRequested && !refused,
      }));
      if (refused) this.emit({ type: "refused", reason: error.reason, names: [file.name] });
      else this.emitOnce({ type: "upload-failed", error });
    } finally {
      if (this.uploads.get(id) === controller) this.uploads.delete(id);
      this.startNext();
    }
  }

  private async saveNext(): Promise<void> {
    if (this.saving) return;
    const next = this.drafts.find(
      ({ saveRequested, state }) => saveRequested && state === "uploaded",
    );
    if (next && !isComplete(next)) {
      // Edited after the owner asked to save it, or its scheduled time has passed.
      this.changeDraft(next.id, (draft) => ({ ...draft, saveRequested: false }));
      return this.saveNext();
    }
    if (!next) {
      if (this.savedIds.length > 0 && !this.drafts.some(isPending)) {
        this.emit({ type: "saved", ids: this.savedIds });
        this.savedIds = [];
      }
      return;
    }
    this.saving = true;
    this.changeDraft(next.id, (draft) => ({ ...draft, state: "saving", attempted: true }));
    try {
      await this.services.save(next.id, draftPayload(next));
      const saved = this.find(next.id);
      if (!saved) return; // the batch was cleared at the end of the session
      this.savedIds.push(saved.id);
      if (saved.preview) URL.revokeObjectURL(saved.preview);
      this.setDrafts(this.drafts.filter((draft) => draft !== saved));
    } catch (error) {
      if (!this.find(next.id)) return;
      this.changeDraft(next.id, (draft) => ({ ...draft, state: "unsaved", saveRequested: false }));
      this.emitOnce({ type: "save-failed", error });
    } finally {
      this.saving = false;
      void this.saveNext();
    }
  }

  private async makePreview(id: string, file: File): Promise<void> {
    const url = await makeThumbnailUrl(file, THUMBNAIL_PX);
    if (!url) return;
    if (this.find(id)) {
      this.changeDraft(id, (draft) => ({ ...draft, preview: url }));
    } else {
      URL.revokeObjectURL(url); // the draft was saved or discarded meanwhile
    }
  }

  private find(id: string): Draft | undefined {
    return this.drafts.find((draft) => draft.id === id);
  }

  private changeDraft(id: string, edit: (draft: Draft) => Draft): void {
    if (!this.find(id)) return;
    this.setDrafts(this.drafts.map((draft) => (draft.id === id ? edit(draft) : draft)));
  }

  private setDrafts(drafts: readonly Draft[]): void {
    const before = this.drafts.length;
    this.drafts = drafts;
    if (before === 0 && drafts.length > 0)
      window.addEventListener("beforeunload", warnBeforeUnload);
    if (before > 0 && drafts.length === 0)
      window.removeEventListener("beforeunload", warnBeforeUnload);
    for (const listener of this.changeListeners) listener();
  }

  private emitOnce(event: BatchEvent): void {
    if (this.reportedFailures.has(event.type)) return;
    this.reportedFailures.add(event.type);
    this.emit(event);
  }

  private emit(event: BatchEvent): void {
    for (const listener of this.eventListeners) listener(event);
  }
}

const isPending = ({ saveRequested, state }: Draft) => saveRequested && state !== "failed";

/** While drafts exist, the browser asks before the page is closed or reloaded. */
function warnBeforeUnload(event: BeforeUnloadEvent) {
  event.preventDefault();
}
