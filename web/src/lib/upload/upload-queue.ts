import { MAX_CONCURRENT_UPLOADS } from "@/lib/constants";
import { moveItem } from "@/lib/move-item";

// The state of an upload queue (components/upload/use-upload-queue.ts) as pure functions. A still is the picture that is shown until a
// video plays. These functions do not revoke object URLs: the code that has created an object URL revokes it.

/** A queued file that the server has stored. */
type StoredFile = {
  id: string;
  state: "stored";
  /** Public URL of the file. */
  url: string;
  /** Object URL of the chosen file, which is shown. Without it `url` is shown, as for files that were stored before. */
  preview?: string | null;
  /** Whether the video has no still, so that the owner is asked to choose one. */
  needsStill?: boolean;
  /** Object URL of a video's still. */
  still?: string;
};
/** A queued file that is not uploaded yet. */
type UnstoredFile = {
  id: string;
  state: "waiting" | "uploading" | "failed";
  /** The uploaded share in per cent. */
  progress: number;
  file: File;
  /** Object URL of the file; null until it is made. It stays null if this browser cannot show the picture. */
  preview: string | null;
  /** Object URL of a video's still. */
  still?: string;
};
/**
 * An entry of the queue: a file that waits, uploads, has failed or is stored. A field shows it as a MediaTile, a preview with
 * buttons.
 */
export type QueuedFile = StoredFile | UnstoredFile;

/** What a form's draft records about a file that is not uploaded yet. lib/draft-files.ts stores the file itself. */
export type PendingFile = { id: string; name: string };

/** A change of the queue. `id` is the id of the entry to change. */
export type QueueAction =
  /** Appends files, which wait for their upload. */
  | { type: "add"; files: { id: string; file: File; preview: string | null }[] }
  /** The preview has been made. */
  | { type: "preview"; id: string; preview: string }
  /** The upload begins, has failed or must begin again, or the entry is removed. */
  | { type: "start" | "fail" | "retry" | "remove"; id: string }
  /** `progress` is the uploaded share in per cent. */
  | { type: "progress"; id: string; progress: number }
  /** The upload has succeeded. */
  | { type: "done"; id: string; url: string; needsStill?: boolean }
  /** A video now has a still. */
  | { type: "still"; id: string; still: string }
  /** Moves an entry to index `to`. */
  | { type: "move"; id: string; to: number }
  /** Replaces the stored file `url` by the stored file `replacement`, or removes it from the queue. */
  | { type: "exchange"; url: string; replacement?: string }
  /** Replaces all entries by stored files with these URLs. */
  | { type: "reset"; urls: readonly string[] };

/** The entries of files that are already stored. */
export function storedFiles(urls: readonly string[]): QueuedFile[] {
  return urls.map((url, n) => ({ id: `stored-${n}`, state: "stored", url }));
}

const isUnstored = (entry: QueuedFile): entry is UnstoredFile => entry.state !== "stored";

/** Applies an action to the queue. The order of the entries is the order in which their URLs are saved. */
export function queueReducer(files: QueuedFile[], action: QueueAction): QueuedFile[] {
  /** Returns the entries, with `edit` applied to the entry of the action if it is not stored yet. */
  const change = (edit: (entry: UnstoredFile) => QueuedFile) =>
    files.map((entry) =>
      "id" in action && entry.id === action.id && isUnstored(entry) ? edit(entry) : entry,
    );

  switch (action.type) {
    case "add":
      return [
        ...files,
        ...action.files.map((entry): QueuedFile => ({ ...entry, state: "waiting", progress: 0 })),
      ];
    case "start":
      return change((entry) => ({ ...entry, state: "uploading", progress: 0 }));
    case "progress":
      return change((entry) => ({ ...entry, progress: Math.max(entry.progress, action.progress) }));
    case "preview":
      // The preview may be ready only after the upload has finished, so stored files get it too.
      return files.map((entry) =>
        entry.id === action.id ? { ...entry, preview: action.preview } : entry,
      );
    case "done":
      return change(({ id, preview, still }) => ({
        id,
        state: "stored",
        url: action.url,
        preview,
        still,
        needsStill: action.needsStill,
      }));
    case "still":
      return files.map((entry) => {
        if (entry.id !== action.id) return entry;
        const { still } = action;
        return isUnstored(entry) ? { ...entry, still } : { ...entry, still, needsStill: false };
      });
    case "fail":
      return change((entry) => ({ ...entry, state: "failed" }));
    case "retry":
      return change((entry) => ({ ...entry, state: "waiting", progress: 0 }));
    case "exchange": {
      const { url, replacement } = action;
      // The new entry has an id of its own, because the earlier file keeps what is recorded by the id of its entry.
      const added: QueuedFile[] =
        replacement === undefined
          ? []
          : [{ id: `exchanged-${replacement}`, state: "stored", url: replacement }];
      return files.flatMap((entry) =>
        entry.state === "stored" && entry.url === url ? added : [entry],
      );
    }
    case "reset":
      return storedFiles(action.urls);
    case "remove":
      return files.filter((entry) => entry.id !== action.id);
    case "move":
      return moveItem(
        files,
        files.findIndex((entry) => entry.id === action.id),
        action.to,
      );
  }
}

/**
 * The reducer of a queue of one file. The old file stays in the queue until its replacement is stored, so that it is shown
 * again if the replacement is cancelled.
 */
export function singleReducer(files: QueuedFile[], action: QueueAction): QueuedFile[] {
  switch (action.type) {
    case "add":
      return queueReducer(
        files.filter((entry) => !isUnstored(entry)),
        { type: "add", files: action.files.slice(-1) },
      );
    case "done":
      return queueReducer(files, action).filter((entry) => entry.id === action.id);
    default:
      return queueReducer(files, action);
  }
}

/** The files whose upload may start now. `running` is the number of uploads that run already. */
export function nextToStart(files: readonly QueuedFile[], running: number): UnstoredFile[] {
  return files
    .filter(isUnstored)
    .filter((entry) => entry.state === "waiting")
    .slice(0, Math.max(0, MAX_CONCURRENT_UPLOADS - running));
}

/** Whether uploads are waiting or running. */
export function isBusy(files: readonly QueuedFile[]): boolean {
  return files.some((entry) => entry.state === "waiting" || entry.state === "uploading");
}

/** The URLs of the stored files in order. */
export function savedUrls(files: readonly QueuedFile[]): string[] {
  return files.flatMap((entry) => (entry.state === "stored" ? [entry.url] : []));
}
