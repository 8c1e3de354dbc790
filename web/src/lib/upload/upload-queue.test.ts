import { describe, expect, it } from "vitest";
import {
  isBusy,
  nextToStart,
  queueReducer,
  savedUrls,
  singleReducer,
  storedFiles,
  type QueueAction,
  type QueuedFile,
} from "@/lib/upload/upload-queue";

const fresh = (id: string) => ({ id, file: new File(["x"], `${id}.png`), preview: `blob:${id}` });
const run = (reducer: typeof queueReducer, start: QueuedFile[], ...actions: QueueAction[]) =>
  actions.reduce(reducer, start);
const ids = (files: QueuedFile[]) => files.map((entry) => entry.id);

describe("queueReducer", () => {
  it("changes a file from waiting to uploading to stored, in its place", () => {
    let files = run(
      queueReducer,
      storedFiles(["/one"]),
      { type: "add", files: [fresh("a"), fresh("b")] },
      { type: "start", id: "a" },
      { type: "progress", id: "a", progress: 64 },
    );
    expect(files[1]).toMatchObject({ state: "uploading", progress: 64 });
    expect(isBusy(files)).toBe(true);
    expect(savedUrls(files)).toEqual(["/one"]);

    files = run(
      queueReducer,
      files,
      { type: "done", id: "b", url: "/b" },
      { type: "done", id: "a", url: "/a" },
    );
    expect(isBusy(files)).toBe(false);
    expect(savedUrls(files)).toEqual(["/one", "/a", "/b"]);
  });

  it("continues other files when one fails, and retries the failed one from 0", () => {
    let files = run(
      queueReducer,
      [],
      { type: "add", files: [fresh("a"), fresh("b")] },
      { type: "start", id: "a" },
      { type: "progress", id: "a", progress: 80 },
      { type: "fail", id: "a" },
      { type: "done", id: "b", url: "/b" },
    );
    expect(isBusy(files)).toBe(false);
    expect(savedUrls(files)).toEqual(["/b"]);
    files = run(queueReducer, files, { type: "retry", id: "a" });
    expect(files[0]).toMatchObject({ state: "waiting", progress: 0 });
  });

  it("never lets progress run backwards", () => {
    const files = run(
      queueReducer,
      [],
      { type: "add", files: [fresh("a")] },
      { type: "start", id: "a" },
      { type: "progress", id: "a", progress: 50 },
      { type: "progress", id: "a", progress: 20 },
    );
    expect(files[0]).toMatchObject({ progress: 50 });
  });

  it("ignores actions for a file that was removed", () => {
    const files = run(
      queueReducer,
      [],
      { type: "add", files: [fresh("a")] },
      { type: "remove", id: "a" },
      { type: "done", id: "a", url: "/a" },
    );
    expect(files).toEqual([]);
  });

  it("returns the URLs in the displayed order", () => {
    const files = run(queueReducer, storedFiles(["/1", "/2", "/3"]), {
      type: "move",
      id: "stored-2",
      to: 0,
    });
    expect(savedUrls(files)).toEqual(["/3", "/1", "/2"]);
  });
});

describe("singleReducer", () => {
  const old = storedFiles(["/old"]);

  it("keeps the old picture until the new one is stored", () => {
    let files = run(singleReducer, old, { type: "add", files: [fresh("a")] });
    expect(savedUrls(files)).toEqual(["/old"]);
    files = run(singleReducer, files, { type: "done", id: "a", url: "/new" });
    expect(savedUrls(files)).toEqual(["/new"]);
  });

  it("shows the old picture again when the replacement is removed", () => {
    const files = run(
      singleReducer,
      old,
      { type: "add", files: [fresh("a")] },
      { type: "fail", id: "a" },
      { type: "remove", id: "a" },
    );
    expect(savedUrls(files)).toEqual(["/old"]);
    expect(ids(files)).toEqual(["stored-0"]);
  });

  it("uses the last of several files and drops an earlier unstored one", () => {
    const files = run(
      singleReducer,
      [],
      { type: "add", files: [fresh("a")] },
      { type: "add", files: [fresh("b"), fresh("c")] },
    );
    expect(ids(files)).toEqual(["c"]);
  });
});

it("starts at most three at a time", () => {
  const files = run(queueReducer, [], { type: "add", files: ["a", "b", "c", "d"].map(fresh) });
  expect(ids(nextToStart(files, 0))).toEqual(["a", "b", "c"]);
  expect(ids(nextToStart(files, 2))).toEqual(["a"]);
  expect(nextToStart(files, 3)).toEqual([]);
});
