import {
  draftPayload,
  hasTitle,
  newDraft,
  type Draft,
  type DraftValues,
} from "@/features/admin-products/draft";
import type { ProductPayload } from "@/features/admin-products/schema";
import { UPLOADS_AT_ONCE } from "@/lib/constants";
import { randomUuid } from "@/lib/upload/file-name";
import { IMAGE_ONLY, refusalOf, type Refusal } from "@/lib/upload/media-types";
import { thumbnailOf } from "@/lib/upload/thumbnail";
import { RefusedFileError } from "@/lib/upload/upload-error";
import type { Uploader } from "@/lib/upload/uploader";

export type BatchEvent =
  | { what: "refused"; reason: Refusal; names: string[] }
  | { what: "upload-failed" | "save-failed"; error: unknown }
  | { what: "saved"; count: number };

type BatchParts = Pick<Uploader, "upload" | "discard"> & {
  /** Saves a row under this id; saving it again changes nothing. */
  save(id: string, payload: ProductPayload): Promise<void>;
};

// Twice the 60 px of the table, for dense screens.
const THUMBNAIL_PX = 120;

/**
 * Many pictures that become works. Lives outside of the page, so that the owner may look elsewhere meanwhile: three
 * pictures travel at once, rows are saved one after the other in the order shown.
 */
export class DraftBatch {
  private drafts: readonly Draft[] = [];
  private readonly parts: BatchParts;
  private readonly running = new Map<string, AbortController>();
  private saving = false;
  private savedCount = 0;
  // One failure is told for everything that fails until the owner does something again.
  private told = new Set<BatchEvent["what"]>();
  private readonly watchers = new Set<() => void>();
  private readonly listeners = new Set<(event: BatchEvent) => void>();

  constructor(parts: BatchParts) {
    this.parts = parts;
  }

  readonly snapshot = () => this.drafts;

  readonly subscribe = (notify: () => void) => {
    this.watchers.add(notify);
    return () => this.watchers.delete(notify);
  };

  /** What is to be said in a toast; returns the unsubscriber. */
  readonly listen = (hear: (event: BatchEvent) => void) => {
    this.listeners.add(hear);
    return () => this.listeners.delete(hear);
  };

  add(files: Iterable<File>): void {
    this.told.clear();
    const refused = new Map<Refusal, string[]>();
    const added: Draft[] = [];
    for (const file of files) {
      const reason = refusalOf(file, IMAGE_ONLY);
      if (reason) refused.set(reason, [...(refused.get(reason) ?? []), file.name]);
      else added.push(newDraft(randomUuid(), file));
    }
    for (const [reason, names] of refused) this.tell({ what: "refused", reason, names });
    if (added.length === 0) return;
    this.set([...this.drafts, ...added]);
    for (const { id, file } of added) void this.preview(id, file);
    this.go();
  }

  edit(id: string, values: Partial<DraftValues>): void {
    this.change(id, (draft) => ({ ...draft, values: { ...draft.values, ...values } }));
  }

  editAll(values: Partial<DraftValues>): void {
    this.set(this.drafts.map((draft) => ({ ...draft, values: { ...draft.values, ...values } })));
  }

  retry(ids: readonly string[]): void {
    this.told.clear();
    const chosen = new Set(ids);
    this.set(
      this.drafts.map((draft) =>
        chosen.has(draft.id) && draft.state === "failed"
          ? { ...draft, state: "waiting", progress: 0 }
          : draft,
      ),
    );
    this.go();
  }

  /** Saves these, or as soon as their pictures are stored; those without a title stay. */
  save(ids: readonly string[]): void {
    this.told.clear();
    const chosen = new Set(ids);
    this.set(
      this.drafts.map((draft) => {
        if (!chosen.has(draft.id) || !hasTitle(draft) || draft.state === "refused") return draft;
        const state = draft.state === "unsaved" ? "uploaded" : draft.state;
        return { ...draft, state, wanted: true };
      }),
    );
    this.go();
  }

  /** Takes drafts away with what is stored of them; one that is being saved stays. */
  discard(ids: readonly string[]): void {
    const chosen = new Set(ids);
    const leaving = this.drafts.filter(({ id, state }) => chosen.has(id) && state !== "saving");
    const urls: string[] = [];
    for (const draft of leaving) {
      this.running.get(draft.id)?.abort();
      this.running.delete(draft.id);
      if (draft.preview) URL.revokeObjectURL(draft.preview);
      // After an attempt to save a row may show it: then the server decides, in 48 hours.
      if (draft.url && !draft.attempted) urls.push(draft.url);
    }
    this.set(this.drafts.filter((draft) => !leaving.includes(draft)));
    if (urls.length > 0) {
      this.parts.discard(urls).catch((error: unknown) => console.warn("discard", error));
    }
    this.go();
  }

  /** Somebody else may sit here now: nothing is left to be seen or sent. */
  clear(): void {
    for (const controller of this.running.values()) controller.abort();
    this.running.clear();
    for (const { preview } of this.drafts) if (preview) URL.revokeObjectURL(preview);
    this.savedCount = 0;
    this.told.clear();
    this.set([]);
  }

  private go(): void {
    for (const draft of this.drafts) {
      if (this.running.size >= UPLOADS_AT_ONCE) break;
      if (draft.state === "waiting") void this.upload(draft);
    }
    void this.saveNext();
  }

  private async upload({ id, file }: Draft): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.running.set(id, controller);
    this.change(id, (draft) => ({ ...draft, state: "uploading", progress: 0 }));
    try {
      const url = await this.parts.upload(file, {
        signal,
        onProgress: (progress) => this.change(id, (draft) => ({ ...draft, progress })),
      });
      if (signal.aborted) return await this.parts.discard([url]);
      this.change(id, (draft) => ({ ...draft, state: "uploaded", progress: 100, url }));
    } catch (error) {
      if (signal.aborted) return;
      const refused = error instanceof RefusedFileError;
      const state = refused ? "refused" : "failed";
      this.change(id, (draft) => ({ ...draft, state, wanted: draft.wanted && !refused }));
      if (refused) this.tell({ what: "refused", reason: error.reason, names: [file.name] });
      else this.tellOnce({ what: "upload-failed", error });
    } finally {
      if (this.running.get(id) === controller) this.running.delete(id);
      this.go();
    }
  }

  private async saveNext(): Promise<void> {
    if (this.saving) return;
    const next = this.drafts.find(({ wanted, state }) => wanted && state === "uploaded");
    if (!next) {
      if (this.savedCount > 0 && !this.drafts.some(isOnItsWay)) {
        this.tell({ what: "saved", count: this.savedCount });
        this.savedCount = 0;
      }
      return;
    }
    this.saving = true;
    this.change(next.id, (draft) => ({ ...draft, state: "saving", attempted: true }));
    try {
      await this.parts.save(next.id, draftPayload(next));
      const saved = this.find(next.id);
      if (!saved) return; // whoever wanted it has signed out
      this.savedCount++;
      if (saved.preview) URL.revokeObjectURL(saved.preview);
      this.set(this.drafts.filter((draft) => draft !== saved));
    } catch (error) {
      if (!this.find(next.id)) return;
      this.change(next.id, (draft) => ({ ...draft, state: "unsaved", wanted: false }));
      this.tellOnce({ what: "save-failed", error });
    } finally {
      this.saving = false;
      void this.saveNext();
    }
  }

  private async preview(id: string, file: File): Promise<void> {
    const url = await thumbnailOf(file, THUMBNAIL_PX);
    if (!url) return;
    if (this.find(id)) {
      this.change(id, (draft) => ({ ...draft, preview: url }));
    } else {
      URL.revokeObjectURL(url); // saved or discarded meanwhile
    }
  }

  private find(id: string): Draft | undefined {
    return this.drafts.find((draft) => draft.id === id);
  }

  private change(id: string, edit: (draft: Draft) => Draft): void {
    if (!this.find(id)) return;
    this.set(this.drafts.map((draft) => (draft.id === id ? edit(draft) : draft)));
  }

  private set(drafts: readonly Draft[]): void {
    const before = this.drafts.length;
    this.drafts = drafts;
    if (before === 0 && drafts.length > 0) window.addEventListener("beforeunload", askFirst);
    if (before > 0 && drafts.length === 0) window.removeEventListener("beforeunload", askFirst);
    for (const notify of this.watchers) notify();
  }

  private tellOnce(event: BatchEvent): void {
    if (this.told.has(event.what)) return;
    this.told.add(event.what);
    this.tell(event);
  }

  private tell(event: BatchEvent): void {
    for (const hear of this.listeners) hear(event);
  }
}

const isOnItsWay = ({ wanted, state }: Draft) => wanted && state !== "failed";

/** Pictures that nobody has saved: the browser's own question is the only one possible. */
function askFirst(event: BeforeUnloadEvent) {
  event.preventDefault();
}
