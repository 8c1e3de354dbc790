import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "react";
import type { UploadProblem } from "@/components/upload/use-upload-toasts";
import { useAuth } from "@/lib/auth";
import { deleteFile, deleteFiles, loadFiles, saveFile } from "@/lib/draft-files";
import { randomUuid } from "@/lib/upload/file-name";
import { fileTypeOf, refusalOf, type MediaKind } from "@/lib/upload/media-types";
import { isDenied, RefusedFileError } from "@/lib/upload/upload-error";
import type { UploadFile } from "@/lib/upload/uploader";
import { makeThumbnailUrl } from "@/lib/upload/thumbnail";
import {
  isBusy,
  nextToStart,
  queueReducer,
  savedUrls,
  singleReducer,
  storedFiles,
  type PendingFile,
  type QueuedFile,
} from "@/lib/upload/upload-queue";

/** The options of useUploadQueue. */
type QueueOptions = {
  /** The accepted kinds of files. */
  kinds: readonly MediaKind[];
  /** Limits the queue to one file. A new file replaces it. */
  single?: boolean;
  /** URLs of the stored files with which the queue starts. */
  initial?: readonly string[];
  /** Height of the thumbnails in pixels. */
  thumbnailPx?: number;

  /** Uploads a file and resolves with its public URL. */
  upload: UploadFile;
  /** Deletes uploaded files that no row uses. Without it, the server deletes them later. */
  discard?(urls: readonly string[]): Promise<void>;
  /** Called for each problem that the page must show to the owner. */
  onProblem(problem: UploadProblem): void;

  /**
   * The name of the form's draft (unsaved values in the browser). The browser stores the files with the draft until they are
   * uploaded. Without a name it does not store them.
   */
  draft?: string;
  /** The files of a restored draft. Their upload begins at mount. */
  pending?: readonly PendingFile[];
  /** Called when the form unmounts. If a draft exists, the uploaded files belong to the draft and are not discarded. */
  hasDraft?(): boolean;
};

/** The files of one form field, and functions that change them. */
export type UploadQueue = {
  /** All files in order: waiting, uploading, failed and stored. */
  files: QueuedFile[];
  /** URLs of the stored files in order. */
  urls: string[];
  /** Whether uploads are waiting or running. */
  busy: boolean;
  /** Whether the files differ from the initial ones. */
  changed: boolean;
  /** Chosen files that are not uploaded yet. They are part of the form's draft. */
  pending: readonly PendingFile[];
  /** Names of files that the browser could not store with the draft. */
  missing: readonly string[];
  /** URLs of all files that this queue has uploaded, including those removed from it since. */
  uploaded: readonly string[];

  /** Adds chosen files and uploads them. */
  add(files: Iterable<File>): void;
  /** Uploads a failed file again. */
  retry(id: string): void;
  /** Aborts the upload of a file, or removes the file. */
  remove(id: string): void;
  /** Moves a file to index `to`. */
  move(id: string, to: number): void;
  /** Shows a picture as the still of a video, in place of the video until it plays. */
  showStill(id: string, picture: Blob): void;
  /** Replaces a stored file by another stored file, or removes it from the queue. Neither file is deleted. */
  exchange(url: string, replacement: string | undefined): void;
  /** Replaces all files by the stored files with these URLs, and aborts the uploads. */
  reset(urls: readonly string[]): void;
  /** Must be called before a row that refers to the files is saved. Afterwards the queue discards none of them. */
  commit(): void;
};

/** Height of thumbnails in pixels: twice that of a tile's picture, for dense screens. */
const THUMBNAIL_PX = 184;

const isSame = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((url, n) => url === b[n]);

/** Files of a restored draft: `awaited` are not loaded yet, `lost` were not found in the browser's storage. */
type RestoredFiles = { awaited: readonly PendingFile[]; lost: readonly PendingFile[] };

/** The entry as a pending file, in an array for flatMap; empty for a stored file. */
const pendingFile = (entry: QueuedFile): PendingFile[] =>
  entry.state === "stored" ? [] : [{ id: entry.id, name: entry.file.name }];

const deletePending = (draft: string | undefined, id: string) => {
  if (draft) void deleteFile(draft, id);
};

/** Removes the URLs of these files from `urlsById` and returns them. */
function takeUrls(urlsById: Map<string, string>, files: readonly QueuedFile[]): string[] {
  return files.flatMap(({ id }) => {
    const url = urlsById.get(id);
    urlsById.delete(id);
    return url === undefined ? [] : [url];
  });
}

/** Deletes uploaded files that no row uses. If that fails, the owner need not know, because the server deletes them later. */
function discardUnused({ discard }: QueueOptions, urls: readonly string[]) {
  if (urls.length === 0) return;
  discard?.(urls).catch((error: unknown) =>
    console.warn("Unused files could not be deleted; the server deletes them later", error),
  );
}

/**
 * Manages the files of one form field: uploads new ones, at most three at a time, retries, removes and orders them, and
 * stores files in the form's draft until they are uploaded. A failed upload does not stop the others.
 */
export function useUploadQueue(options: QueueOptions): UploadQueue {
  const { kinds, single = false } = options;
  const [initial] = useState(() => options.initial ?? []);
  const [files, dispatch] = useReducer(single ? singleReducer : queueReducer, initial, storedFiles);
  const [uploaded, setUploaded] = useState<readonly string[]>([]);
  const [{ awaited, lost }, setRestored] = useState<RestoredFiles>(() => ({
    awaited: options.pending ?? [],
    lost: [],
  }));
  const { role } = useAuth();

  // The latest options and files, for callbacks that must stay the same function.
  const latest = useRef(options);
  const latestFiles = useRef(files);
  useEffect(() => {
    latest.current = options;
    latestFiles.current = files;
  });

  const running = useRef(new Map<string, AbortController>());
  const previews = useRef(new Set<string>());
  // Files that were added together share one toast: without a network all of them fail for one reason.
  const batches = useRef(new Map<string, { reported: boolean }>());
  // URLs of uploaded files that no row refers to yet, by the id of their entry in the queue.
  const unreferenced = useRef(new Map<string, string>());
  const committed = useRef(false);
  const unmounted = useRef<AbortController>(null);

  // Ends the uploads at unmount, and discards the uploaded files that neither a row nor a draft refers to.
  useEffect(() => {
    const controllers = running.current;
    const objectUrls = previews.current;
    const unsaved = unreferenced.current;
    const leaving = new AbortController();
    unmounted.current = leaving;
    return () => {
      leaving.abort();
      for (const controller of controllers.values()) controller.abort();
      for (const url of objectUrls) URL.revokeObjectURL(url);
      controllers.clear();
      objectUrls.clear();
      if (!committed.current && !latest.current.hasDraft?.()) {
        discardUnused(latest.current, [...unsaved.values()]);
        unsaved.clear();
      }
    };
  }, []);

  const showStill = useCallback((id: string, picture: Blob) => {
    const still = URL.createObjectURL(picture);
    previews.current.add(still);
    dispatch({ type: "still", id, still });
  }, []);

  const begin = useCallback(
    async (id: string, file: File) => {
      const controller = new AbortController();
      const { signal } = controller;
      running.current.set(id, controller);
      dispatch({ type: "start", id });
      try {
        let needsStill = false;
        const url = await latest.current.upload(file, {
          signal,
          onProgress: (progress) => dispatch({ type: "progress", id, progress }),
          onStillMissing: () => {
            needsStill = true;
          },
          onStill: (jpeg) => {
            if (!signal.aborted) showStill(id, jpeg);
          },
        });
        running.current.delete(id);
        if (signal.aborted) {
          // The upload was cancelled after its last byte was sent.
          await latest.current.discard?.([url]);
          return;
        }
        if (needsStill) latest.current.onProblem({ reason: "no-still", name: file.name });
        setUploaded((all) => [...all, url]);
        if (single && !committed.current) {
          // Only what this file replaces: a file that `reset` has removed may be in another queue of the form.
          discardUnused(latest.current, takeUrls(unreferenced.current, latestFiles.current));
        }
        unreferenced.current.set(id, url);
        deletePending(latest.current.draft, id);
        dispatch({ type: "done", id, url, needsStill });
      } catch (error) {
        running.current.delete(id);
        if (signal.aborted) return;
        if (error instanceof RefusedFileError) {
          deletePending(latest.current.draft, id);
          dispatch({ type: "remove", id });
          latest.current.onProblem({ reason: error.reason, name: file.name });
          return;
        }
        dispatch({ type: "fail", id });
        const batch = batches.current.get(id);
        if (batch?.reported) return;
        if (batch) batch.reported = true;
        const kind = fileTypeOf(file)?.kind ?? "image";
        latest.current.onProblem(
          isDenied(error) ? { reason: "upload-denied", kind } : { reason: "failed", kind, error },
        );
      }
    },
    [single, showStill],
  );

  // Starts waiting uploads when there are free places.
  useEffect(() => {
    for (const entry of nextToStart(files, running.current.size)) void begin(entry.id, entry.file);
  }, [files, begin]);

  const enqueue = useCallback(
    (accepted: { id: string; file: File }[]) => {
      if (accepted.length === 0) return;
      if (single) {
        for (const controller of running.current.values()) controller.abort();
        running.current.clear();
      }
      dispatch({ type: "add", files: accepted.map((file) => ({ ...file, preview: null })) });
      const setPreview = (id: string, preview: string) => {
        previews.current.add(preview);
        dispatch({ type: "preview", id, preview });
      };
      for (const { id, file } of accepted) {
        if (fileTypeOf(file)?.kind === "video") {
          setPreview(id, URL.createObjectURL(file));
          continue;
        }
        void makeThumbnailUrl(
          file,
          latest.current.thumbnailPx ?? THUMBNAIL_PX,
          unmounted.current?.signal,
        ).then((preview) => {
          if (preview) setPreview(id, preview);
        });
      }
    },
    [single],
  );

  const add = useCallback(
    (chosen: Iterable<File>) => {
      const { onProblem, draft } = latest.current;
      if (role !== "admin") {
        onProblem({ reason: "upload-denied", kind: kinds[0]! });
        return;
      }
      const batch = { reported: false };
      const accepted = [];
      for (const file of chosen) {
        const refusal = refusalOf(file, kinds);
        if (refusal) {
          onProblem({ reason: refusal, name: file.name });
          continue;
        }
        const id = randomUuid();
        batches.current.set(id, batch);
        accepted.push({ id, file });
      }
      if (accepted.length === 0) return;
      if (draft) {
        if (single) void deleteFiles(draft);
        for (const { id, file } of accepted) void saveFile(draft, id, file);
      }
      const names = new Set(accepted.map(({ file }) => file.name));
      setRestored((now) => ({
        ...now,
        lost: single ? [] : now.lost.filter(({ name }) => !names.has(name)),
      }));
      enqueue(accepted);
    },
    [kinds, role, single, enqueue],
  );

  // Files of a restored draft are uploaded like newly chosen ones.
  useEffect(() => {
    const { draft, pending = [] } = latest.current;
    if (!draft || pending.length === 0) return;
    let isCancelled = false;
    void loadFiles(draft).then((stored) => {
      if (isCancelled) return;
      const found = pending.flatMap(({ id }) => {
        const file = stored.get(id);
        return file ? [{ id, file }] : [];
      });
      setRestored({ awaited: [], lost: pending.filter(({ id }) => !stored.has(id)) });
      enqueue(found);
    });
    return () => {
      isCancelled = true;
    };
  }, [enqueue]);

  const retry = useCallback((id: string) => {
    batches.current.set(id, { reported: false });
    dispatch({ type: "retry", id });
  }, []);

  const remove = useCallback(
    (id: string) => {
      const stored = !running.current.has(id);
      if (stored && role !== "admin") {
        latest.current.onProblem({ reason: "remove-denied", kind: kinds[0]! });
        return;
      }
      running.current.get(id)?.abort();
      running.current.delete(id);
      dispatch({ type: "remove", id });
      deletePending(latest.current.draft, id);
      const url = unreferenced.current.get(id);
      if (!url || committed.current) return;
      unreferenced.current.delete(id);
      latest.current.discard?.([url]).catch((error: unknown) =>
        latest.current.onProblem({
          reason: isDenied(error) ? "remove-denied" : "remove-failed",
          kind: kinds[0]!,
        }),
      );
    },
    [kinds, role],
  );

  const commit = useCallback(() => {
    committed.current = true;
  }, []);

  const reset = useCallback((urls: readonly string[]) => {
    for (const controller of running.current.values()) controller.abort();
    running.current.clear();
    setRestored({ awaited: [], lost: [] });
    dispatch({ type: "reset", urls });
  }, []);

  const exchange = useCallback(
    (url: string, replacement: string | undefined) =>
      dispatch({ type: "exchange", url, replacement }),
    [],
  );

  const move = useCallback((id: string, to: number) => dispatch({ type: "move", id, to }), []);

  return useMemo(() => {
    const urls = savedUrls(files);
    return {
      files,
      urls,
      busy: isBusy(files),
      changed: !isSame(urls, initial) || files.some((entry) => entry.state !== "stored"),
      pending: [...awaited, ...lost, ...files.flatMap(pendingFile)],
      missing: lost.map(({ name }) => name),
      uploaded,
      add,
      retry,
      remove,
      move,
      showStill,
      exchange,
      reset,
      commit,
    };
  }, [
    files,
    initial,
    uploaded,
    awaited,
    lost,
    add,
    retry,
    remove,
    move,
    showStill,
    exchange,
    reset,
    commit,
  ]);
}
