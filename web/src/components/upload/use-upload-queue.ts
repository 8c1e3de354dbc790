import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "react";
import type { UploadProblem } from "@/components/upload/use-upload-toasts";
import { useAuth } from "@/lib/auth";
import { fileFacts, refusalOf, type MediaKind } from "@/lib/upload/media-types";
import { isDenied, RefusedFileError } from "@/lib/upload/upload-error";
import type { UploadFile } from "@/lib/upload/uploader";
import { thumbnailOf } from "@/lib/upload/thumbnail";
import {
  isBusy,
  nextToStart,
  queueReducer,
  savedUrls,
  singleReducer,
  storedTiles,
  type Tile,
} from "@/lib/upload/upload-queue";

type QueueOptions = {
  kinds: readonly MediaKind[];
  upload: UploadFile;
  /** Removes files again that this queue has stored and nothing refers to. */
  discard?(urls: readonly string[]): Promise<void>;
  /** Whether a draft of the form was kept when it went away: what was stored then belongs to the draft. */
  drafted?(): boolean;
  onProblem(problem: UploadProblem): void;
  /** Addresses that are stored already. */
  initial?: readonly string[];
  /** Holds one file; a new one replaces it. */
  single?: boolean;
  /** Takes a tile away once it is stored, where something else shows the result. */
  clearWhenDone?: boolean;
};

export type UploadQueue = {
  tiles: Tile[];
  /** What would be saved now, in order. */
  urls: string[];
  busy: boolean;
  changed: boolean;
  /** Stored by this queue and perhaps removed again: nothing may refer to them. */
  uploaded: readonly string[];
  add(files: Iterable<File>): void;
  retry(id: string): void;
  remove(id: string): void;
  move(id: string, to: number): void;
  /** A still was chosen for this film. */
  stillChosen(id: string, picture: Blob): void;
  /** A row is about to refer to the files: from now on closing the form leaves them alone. */
  keep(): void;
};

// Twice the size of a tile, for dense screens.
const THUMBNAIL_PX = 184;

const same = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((url, n) => url === b[n]);

/** The files of one field: at most three travel at once, one that fails does not stop the others. */
export function useUploadQueue(options: QueueOptions): UploadQueue {
  const { kinds, single = false } = options;
  const [initial] = useState(() => options.initial ?? []);
  const [tiles, dispatch] = useReducer(single ? singleReducer : queueReducer, initial, storedTiles);
  const [uploaded, setUploaded] = useState<readonly string[]>([]);
  const { role } = useAuth();

  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });

  const running = useRef(new Map<string, AbortController>());
  const previews = useRef(new Set<string>());
  const nextId = useRef(0);
  // One toast for a batch: ten files on a broken line fail for one reason.
  const batches = useRef(new Map<string, { told: boolean }>());
  // Stored by this queue while nothing refers to them, by tile.
  const loose = useRef(new Map<string, string>());
  const kept = useRef(false);
  const gone = useRef<AbortController>(null);

  useEffect(() => {
    const controllers = running.current;
    const objectUrls = previews.current;
    const unsaved = loose.current;
    const leaving = new AbortController();
    gone.current = leaving;
    return () => {
      leaving.abort();
      for (const controller of controllers.values()) controller.abort();
      for (const url of objectUrls) URL.revokeObjectURL(url);
      controllers.clear();
      objectUrls.clear();
      if (!kept.current && !latest.current.drafted?.() && unsaved.size > 0) {
        // Nobody is left to be told: what stays the server collects.
        latest.current
          .discard?.([...unsaved.values()])
          .catch((error: unknown) => console.warn("discard", error));
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
          // Cancelled a moment too late.
          await latest.current.discard?.([url]);
          return;
        }
        if (needsStill) latest.current.onProblem({ reason: "no-still", name: file.name });
        setUploaded((all) => [...all, url]);
        loose.current.set(id, url);
        dispatch(
          latest.current.clearWhenDone
            ? { type: "remove", id }
            : { type: "done", id, url, needsStill },
        );
      } catch (error) {
        running.current.delete(id);
        if (signal.aborted) return;
        if (error instanceof RefusedFileError) {
          dispatch({ type: "remove", id });
          latest.current.onProblem({ reason: error.reason, name: file.name });
          return;
        }
        dispatch({ type: "fail", id });
        const batch = batches.current.get(id);
        if (batch?.told) return;
        if (batch) batch.told = true;
        const kind = fileFacts(file)?.kind ?? "image";
        latest.current.onProblem(
          isDenied(error) ? { reason: "upload-denied", kind } : { reason: "failed", kind, error },
        );
      }
    },
    [showStill],
  );

  useEffect(() => {
    for (const tile of nextToStart(tiles, running.current.size)) void begin(tile.id, tile.file);
  }, [tiles, begin]);

  const add = useCallback(
    (files: Iterable<File>) => {
      const { onProblem } = latest.current;
      if (role !== "admin") {
        onProblem({ reason: "upload-denied", kind: kinds[0]! });
        return;
      }
      const batch = { told: false };
      const accepted = [];
      for (const file of files) {
        const refusal = refusalOf(file, kinds);
        if (refusal) {
          onProblem({ reason: refusal, name: file.name });
          continue;
        }
        const id = `new-${nextId.current++}`;
        batches.current.set(id, batch);
        accepted.push({ id, file, preview: null });
      }
      if (accepted.length === 0) return;
      if (single) {
        for (const controller of running.current.values()) controller.abort();
        running.current.clear();
      }
      dispatch({ type: "add", tiles: accepted });
      const show = (id: string, preview: string) => {
        previews.current.add(preview);
        dispatch({ type: "preview", id, preview });
      };
      for (const { id, file } of accepted) {
        if (fileFacts(file)?.kind === "video") {
          show(id, URL.createObjectURL(file));
          continue;
        }
        void thumbnailOf(file, THUMBNAIL_PX, gone.current?.signal).then((preview) => {
          if (preview) show(id, preview);
        });
      }
    },
    [kinds, role, single],
  );

  const retry = useCallback((id: string) => {
    batches.current.set(id, { told: false });
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
      const url = loose.current.get(id);
      if (!url || kept.current) return;
      loose.current.delete(id);
      latest.current.discard?.([url]).catch((error: unknown) =>
        latest.current.onProblem({
          reason: isDenied(error) ? "remove-denied" : "remove-failed",
          kind: kinds[0]!,
        }),
      );
    },
    [kinds, role],
  );

  const keep = useCallback(() => {
    kept.current = true;
  }, []);

  const move = useCallback((id: string, to: number) => dispatch({ type: "move", id, to }), []);

  return useMemo(() => {
    const urls = savedUrls(tiles);
    return {
      tiles,
      urls,
      busy: isBusy(tiles),
      changed: !same(urls, initial) || tiles.some((tile) => tile.state !== "stored"),
      uploaded,
      add,
      retry,
      remove,
      move,
      stillChosen: showStill,
      keep,
    };
  }, [tiles, initial, uploaded, add, retry, remove, move, showStill, keep]);
}
