import { describe, expect, it } from "vitest";
import {
  isBusy,
  nextToStart,
  queueReducer,
  savedUrls,
  singleReducer,
  storedTiles,
  type QueueAction,
  type Tile,
} from "@/lib/upload/upload-queue";

const fresh = (id: string) => ({ id, file: new File(["x"], `${id}.png`), preview: `blob:${id}` });
const run = (reducer: typeof queueReducer, start: Tile[], ...actions: QueueAction[]) =>
  actions.reduce(reducer, start);
const ids = (tiles: Tile[]) => tiles.map((tile) => tile.id);

describe("queueReducer", () => {
  it("changes a file from waiting to uploading to stored, in its place", () => {
    let tiles = run(
      queueReducer,
      storedTiles(["/one"]),
      { type: "add", tiles: [fresh("a"), fresh("b")] },
      { type: "start", id: "a" },
      { type: "progress", id: "a", progress: 64 },
    );
    expect(tiles[1]).toMatchObject({ state: "uploading", progress: 64 });
    expect(isBusy(tiles)).toBe(true);
    expect(savedUrls(tiles)).toEqual(["/one"]);

    tiles = run(
      queueReducer,
      tiles,
      { type: "done", id: "b", url: "/b" },
      { type: "done", id: "a", url: "/a" },
    );
    expect(isBusy(tiles)).toBe(false);
    expect(savedUrls(tiles)).toEqual(["/one", "/a", "/b"]);
  });

  it("continues other files when one fails, and retries the failed one from 0", () => {
    let tiles = run(
      queueReducer,
      [],
      { type: "add", tiles: [fresh("a"), fresh("b")] },
      { type: "start", id: "a" },
      { type: "progress", id: "a", progress: 80 },
      { type: "fail", id: "a" },
      { type: "done", id: "b", url: "/b" },
    );
    expect(isBusy(tiles)).toBe(false);
    expect(savedUrls(tiles)).toEqual(["/b"]);
    tiles = run(queueReducer, tiles, { type: "retry", id: "a" });
    expect(tiles[0]).toMatchObject({ state: "waiting", progress: 0 });
  });

  it("never lets progress run backwards", () => {
    const tiles = run(
      queueReducer,
      [],
      { type: "add", tiles: [fresh("a")] },
      { type: "start", id: "a" },
      { type: "progress", id: "a", progress: 50 },
      { type: "progress", id: "a", progress: 20 },
    );
    expect(tiles[0]).toMatchObject({ progress: 50 });
  });

  it("ignores actions for a tile that was removed", () => {
    const tiles = run(
      queueReducer,
      [],
      { type: "add", tiles: [fresh("a")] },
      { type: "remove", id: "a" },
      { type: "done", id: "a", url: "/a" },
    );
    expect(tiles).toEqual([]);
  });

  it("returns the addresses in the displayed order", () => {
    const tiles = run(queueReducer, storedTiles(["/1", "/2", "/3"]), {
      type: "move",
      id: "stored-2",
      to: 0,
    });
    expect(savedUrls(tiles)).toEqual(["/3", "/1", "/2"]);
  });
});

describe("singleReducer", () => {
  const old = storedTiles(["/old"]);

  it("keeps the old picture until the new one is stored", () => {
    let tiles = run(singleReducer, old, { type: "add", tiles: [fresh("a")] });
    expect(savedUrls(tiles)).toEqual(["/old"]);
    tiles = run(singleReducer, tiles, { type: "done", id: "a", url: "/new" });
    expect(savedUrls(tiles)).toEqual(["/new"]);
  });

  it("shows the old picture again when the replacement is removed", () => {
    const tiles = run(
      singleReducer,
      old,
      { type: "add", tiles: [fresh("a")] },
      { type: "fail", id: "a" },
      { type: "remove", id: "a" },
    );
    expect(savedUrls(tiles)).toEqual(["/old"]);
    expect(ids(tiles)).toEqual(["stored-0"]);
  });

  it("uses the last of several files and drops an earlier unstored one", () => {
    const tiles = run(
      singleReducer,
      [],
      { type: "add", tiles: [fresh("a")] },
      { type: "add", tiles: [fresh("b"), fresh("c")] },
    );
    expect(ids(tiles)).toEqual(["c"]);
  });
});

it("starts at most three at once", () => {
  const tiles = run(queueReducer, [], { type: "add", tiles: ["a", "b", "c", "d"].map(fresh) });
  expect(ids(nextToStart(tiles, 0))).toEqual(["a", "b", "c"]);
  expect(ids(nextToStart(tiles, 2))).toEqual(["a"]);
  expect(nextToStart(tiles, 3)).toEqual([]);
});
