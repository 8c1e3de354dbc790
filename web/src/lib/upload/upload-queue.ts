import { UPLOADS_AT_ONCE } from "@/lib/constants";
import { moveItem } from "@/lib/move-item";

// The state of an upload queue (components/upload/use-upload-queue.ts) as pure functions. A still is the picture shown in
// place of a film until it plays. Whoever creates an object URL revokes it.

/** A file in the queue that the server has stored. */
type StoredTile = {
  id: string;
  state: "stored";
  /** Public URL of the file. */
  url: string;
  /** Object URL of the chosen file; undefined for a file of an earlier upload. Without it `url` is shown. */
  preview?: string | null;
  /** The film has no still, so the owner is asked to choose one. */
  needsStill?: boolean;
  /** Object URL of a film's still. */
  still?: string;
};
/** A file in the queue that is not uploaded yet. */
type UnstoredTile = {
  id: string;
  state: "waiting" | "uploading" | "failed";
  /** The uploaded share, from 0 to 100. */
  progress: number;
  file: File;
  /** Object URL; null until it is made, and always null if this browser cannot show the picture. */
  preview: string | null;
  /** Object URL of a film's still. */
  still?: string;
};
/** A file in the queue, as a field shows it. */
export type Tile = StoredTile | UnstoredTile;

/** What a form's draft records about a file that is not uploaded yet. lib/draft-files.ts stores the file itself. */
export type PendingFile = { id: string; name: string };

/** A change of the queue. `id` is that of the tile to change. */
export type QueueAction =
  /** Appends files, which wait for their upload. */
  | { type: "add"; tiles: { id: string; file: File; preview: string | null }[] }
  /** The preview has been made. */
  | { type: "preview"; id: string; preview: string }
  | { type: "start" | "fail" | "retry" | "remove"; id: string }
  | { type: "progress"; id: string; progress: number }
  /** The upload has succeeded. */
  | { type: "done"; id: string; url: string; needsStill?: boolean }
  /** A film has got a still. */
  | { type: "still"; id: string; still: string }
  /** Moves a tile to index `to`. */
  | { type: "move"; id: string; to: number }
  /** Replaces all tiles by stored files with these URLs. */
  | { type: "reset"; urls: readonly string[] };

/** The tiles of files that are already stored. */
export function storedTiles(urls: readonly string[]): Tile[] {
  return urls.map((url, n) => ({ id: `stored-${n}`, state: "stored", url }));
}

const isUnstored = (tile: Tile): tile is UnstoredTile => tile.state !== "stored";

/** Applies an action to the queue. The order of the tiles is the order in which the URLs are saved. */
export function queueReducer(tiles: Tile[], action: QueueAction): Tile[] {
  const change = (edit: (tile: UnstoredTile) => Tile) =>
    tiles.map((tile) =>
      "id" in action && tile.id === action.id && isUnstored(tile) ? edit(tile) : tile,
    );

  switch (action.type) {
    case "add":
      return [
        ...tiles,
        ...action.tiles.map((tile): Tile => ({ ...tile, state: "waiting", progress: 0 })),
      ];
    case "start":
      return change((tile) => ({ ...tile, state: "uploading", progress: 0 }));
    case "progress":
      return change((tile) => ({ ...tile, progress: Math.max(tile.progress, action.progress) }));
    case "preview":
      // The preview may be ready only after the upload has finished, so stored tiles get it too.
      return tiles.map((tile) =>
        tile.id === action.id ? { ...tile, preview: action.preview } : tile,
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
      return tiles.map((tile) => {
        if (tile.id !== action.id) return tile;
        const { still } = action;
        return isUnstored(tile) ? { ...tile, still } : { ...tile, still, needsStill: false };
      });
    case "fail":
      return change((tile) => ({ ...tile, state: "failed" }));
    case "retry":
      return change((tile) => ({ ...tile, state: "waiting", progress: 0 }));
    case "reset":
      return storedTiles(action.urls);
    case "remove":
      return tiles.filter((tile) => tile.id !== action.id);
    case "move":
      return moveItem(
        tiles,
        tiles.findIndex((tile) => tile.id === action.id),
        action.to,
      );
  }
}

/**
 * The reducer of a queue of one file. The old file stays in the queue until its replacement is stored, so that it is shown
 * again if the replacement is cancelled.
 */
export function singleReducer(tiles: Tile[], action: QueueAction): Tile[] {
  switch (action.type) {
    case "add":
      return queueReducer(
        tiles.filter((tile) => !isUnstored(tile)),
        { type: "add", tiles: action.tiles.slice(-1) },
      );
    case "done":
      return queueReducer(tiles, action).filter((tile) => tile.id === action.id);
    default:
      return queueReducer(tiles, action);
  }
}

/** The tiles whose upload may start now. `running` is the number of uploads that run already. */
export function nextToStart(tiles: readonly Tile[], running: number): UnstoredTile[] {
  return tiles
    .filter(isUnstored)
    .filter((tile) => tile.state === "waiting")
    .slice(0, Math.max(0, UPLOADS_AT_ONCE - running));
}

/** Whether uploads are waiting or running. */
export function isBusy(tiles: readonly Tile[]): boolean {
  return tiles.some((tile) => tile.state === "waiting" || tile.state === "uploading");
}

/** The URLs of the stored files in order. */
export function savedUrls(tiles: readonly Tile[]): string[] {
  return tiles.flatMap((tile) => (tile.state === "stored" ? [tile.url] : []));
}
