import { UPLOADS_AT_ONCE } from "@/lib/constants";
import { moveItem } from "@/lib/move-item";

type Stored = {
  id: string;
  state: "stored";
  url: string;
  preview?: string | null;
  /** A film of which no still could be taken: one is asked for. */
  needsStill?: boolean;
  /** Object URL of a film's still. */
  still?: string;
};
type Pending = {
  id: string;
  state: "waiting" | "uploading" | "failed";
  progress: number;
  file: File;
  /** Object URL, released by whoever made it; null while it is being made. */
  preview: string | null;
  still?: string;
};
export type Tile = Stored | Pending;

export type QueueAction =
  | { type: "add"; tiles: { id: string; file: File; preview: string | null }[] }
  | { type: "preview"; id: string; preview: string }
  | { type: "start" | "fail" | "retry" | "remove"; id: string }
  | { type: "progress"; id: string; progress: number }
  | { type: "done"; id: string; url: string; needsStill?: boolean }
  | { type: "still"; id: string; still: string }
  | { type: "move"; id: string; to: number };

export function storedTiles(urls: readonly string[]): Tile[] {
  return urls.map((url, n) => ({ id: `stored-${n}`, state: "stored", url }));
}

const pending = (tile: Tile): tile is Pending => tile.state !== "stored";

/** The order of the tiles is the order that is saved. */
export function queueReducer(tiles: Tile[], action: QueueAction): Tile[] {
  const change = (edit: (tile: Pending) => Tile) =>
    tiles.map((tile) =>
      "id" in action && tile.id === action.id && pending(tile) ? edit(tile) : tile,
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
      // Also of one that was stored meanwhile.
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
        return pending(tile) ? { ...tile, still } : { ...tile, still, needsStill: false };
      });
    case "fail":
      return change((tile) => ({ ...tile, state: "failed" }));
    case "retry":
      return change((tile) => ({ ...tile, state: "waiting", progress: 0 }));
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
 * A queue that holds one file. A replacement lies on top of the old picture until it is stored, so
 * cancelling it, or its failure, brings the old picture back instead of an empty frame.
 */
export function singleReducer(tiles: Tile[], action: QueueAction): Tile[] {
  switch (action.type) {
    case "add":
      return queueReducer(
        tiles.filter((tile) => !pending(tile)),
        { type: "add", tiles: action.tiles.slice(-1) },
      );
    case "done":
      return queueReducer(tiles, action).filter((tile) => tile.id === action.id);
    default:
      return queueReducer(tiles, action);
  }
}

/** The tiles that may start now; the rest wait so that one slow line is not shared by twenty files. */
export function nextToStart(tiles: readonly Tile[], running: number): Pending[] {
  return tiles
    .filter(pending)
    .filter((tile) => tile.state === "waiting")
    .slice(0, Math.max(0, UPLOADS_AT_ONCE - running));
}

export function isBusy(tiles: readonly Tile[]): boolean {
  return tiles.some((tile) => tile.state === "waiting" || tile.state === "uploading");
}

export function savedUrls(tiles: readonly Tile[]): string[] {
  return tiles.flatMap((tile) => (tile.state === "stored" ? [tile.url] : []));
}
