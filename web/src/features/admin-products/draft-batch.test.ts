import { beforeEach, expect, it, vi } from "vitest";
import { titleFrom, type Draft } from "@/features/admin-products/draft";
import { DraftBatch, type BatchEvent } from "@/features/admin-products/draft-batch";
import type { ProductPayload } from "@/features/admin-products/schema";
import { RefusedFileError, UploadError } from "@/lib/upload/upload-error";
import { pngFile } from "@/test/files";

type Upload = { name: string; signal: AbortSignal; done(): void; fail(error: unknown): void };

function makeBatch() {
  const uploads: Upload[] = [];
  const saves: { id: string; payload: ProductPayload; done(): void; fail(error: unknown): void }[] =
    [];
  const discarded: string[] = [];
  const events: BatchEvent[] = [];
  const batch = new DraftBatch({
    upload: (file, { signal }) =>
      new Promise((resolve, reject) => {
        uploads.push({
          name: file.name,
          signal: signal!,
          done: () => resolve(`/stored/${file.name}`),
          fail: reject,
        });
      }),
    discard: async (urls) => void discarded.push(...urls),
    save: (id, payload) =>
      new Promise((resolve, reject) => {
        saves.push({ id, payload, done: resolve, fail: reject });
      }),
  });
  batch.subscribeToEvents((event) => events.push(event));
  const ids = () => batch.getSnapshot().map(({ id }) => id);
  return { batch, uploads, saves, discarded, events, ids };
}

let urlCount = 0;
beforeEach(() => {
  vi.spyOn(URL, "createObjectURL").mockImplementation(() => `blob:${urlCount++}`);
  vi.spyOn(URL, "revokeObjectURL");
});

const pngFiles = (count: number) =>
  Array.from({ length: count }, (_, n) => pngFile(`${n + 1}.png`));
const states = (drafts: readonly Draft[]) => drafts.map(({ state }) => state);

it.each([
  ["telhados_manha-2.JPG", "Telhados manha 2"],
  ["árvore.jpeg", "Árvore"],
  ["IMG_0042.png", "IMG 0042"],
  [".png", ""],
])('titleFrom: %s becomes "%s"', (file, title) => expect(titleFrom(file)).toBe(title));

it("A-prod-type: drafts have the type with which they were added", () => {
  const { batch } = makeBatch();
  batch.add(pngFiles(1));
  batch.add(pngFiles(2), "oil");
  const types = batch.getSnapshot().map(({ values }) => values.artwork_type);
  expect(types).toEqual(["digital", "oil", "oil"]);
});

it("A-bulk-drafts: uploads three at a time, then the others", async () => {
  const { batch, uploads } = makeBatch();
  batch.add(pngFiles(5));
  expect(uploads.map(({ name }) => name)).toEqual(["1.png", "2.png", "3.png"]);
  uploads[1]!.done();
  await vi.waitFor(() => expect(uploads).toHaveLength(4));
  uploads[0]!.fail(new UploadError("no", 500));
  await vi.waitFor(() => expect(uploads).toHaveLength(5));
  expect(states(batch.getSnapshot())).toEqual([
    "failed",
    "uploaded",
    "uploading",
    "uploading",
    "uploading",
  ]);
});

it("A-bulk-save: saves in the displayed order, each draft once its picture is uploaded, and shows one toast", async () => {
  const { batch, uploads, saves, events, ids } = makeBatch();
  batch.add(pngFiles(2));
  const [first, second] = ids();
  batch.edit(first!, { title: " Mar ", artwork_type: "mural", dimensions: "2 × 3 m" });
  batch.save(ids());
  expect(saves).toEqual([]);
  uploads[1]!.done();
  await vi.waitFor(() => expect(saves).toHaveLength(1));
  expect(saves[0]).toMatchObject({
    id: second,
    payload: { title: "2", image_url: "/stored/2.png" },
  });
  uploads[0]!.done();
  await vi.waitFor(() => expect(batch.getSnapshot()[0]!.state).toBe("uploaded"));
  expect(saves).toHaveLength(1);
  saves[0]!.done();
  await vi.waitFor(() => expect(saves).toHaveLength(2));
  expect(saves[1]!.payload).toMatchObject({
    title: "Mar",
    artwork_type: "mural",
    dimensions: "2 × 3 m",
    image_url: "/stored/1.png",
    price: 0,
    in_stock: true,
  });
  expect(events).toEqual([]);
  saves[1]!.done();
  await vi.waitFor(() => expect(events).toEqual([{ type: "saved", ids: [second, first] }]));
  expect(batch.getSnapshot()).toEqual([]);
});

it("A-bulk-save: a draft that is edited after Save all and lacks its title at its turn is not saved", async () => {
  const { batch, uploads, saves, events, ids } = makeBatch();
  batch.add(pngFiles(3));
  const [first, second] = ids();
  batch.save(ids());
  uploads.forEach(({ done }) => done());
  await vi.waitFor(() => expect(saves).toHaveLength(1));
  batch.edit(second!, { title: " " });
  saves[0]!.done();
  await vi.waitFor(() => expect(saves).toHaveLength(2));
  expect(saves.map(({ payload }) => payload.title)).toEqual(["1", "3"]);
  saves[1]!.done();
  await vi.waitFor(() => expect(events).toEqual([{ type: "saved", ids: [first, saves[1]!.id] }]));
  expect(batch.getSnapshot()).toMatchObject([{ id: second, state: "uploaded" }]);
  expect(batch.getSnapshot()[0]!.saveRequested).toBe(false);
});

it("A-bulk-drafts: reports many failures once, retries with the same id, and keeps drafts without a title", async () => {
  const { batch, uploads, saves, events, ids } = makeBatch();
  batch.add(pngFiles(3));
  uploads[0]!.fail(new UploadError("no", 500));
  uploads[1]!.fail(new UploadError("no", 500));
  uploads[2]!.done();
  await vi.waitFor(() =>
    expect(states(batch.getSnapshot())).toEqual(["failed", "failed", "uploaded"]),
  );
  expect(events.map(({ type }) => type)).toEqual(["upload-failed"]);

  batch.retry(ids());
  expect(uploads).toHaveLength(5);
  uploads[3]!.done();
  uploads[4]!.done();
  await vi.waitFor(() => expect(states(batch.getSnapshot())).toEqual(Array(3).fill("uploaded")));

  batch.edit(ids()[1]!, { title: "  " });
  batch.save(ids());
  await vi.waitFor(() => expect(saves).toHaveLength(1));
  saves[0]!.fail(new Error("no"));
  await vi.waitFor(() => expect(saves).toHaveLength(2));
  saves[1]!.done();
  await vi.waitFor(() => expect(states(batch.getSnapshot())).toEqual(["unsaved", "uploaded"]));
  expect(events.map(({ type }) => type)).toEqual(["upload-failed", "save-failed", "saved"]);

  batch.save(ids());
  await vi.waitFor(() => expect(saves).toHaveLength(3));
  expect(saves[2]!.id).toBe(saves[0]!.id);
});

it("rejects files by name and by bytes, and never uploads those again", async () => {
  const { batch, uploads, events } = makeBatch();
  batch.add([new File(["<svg/>"], "a.svg"), new File(["x"], "b.mp4"), pngFile("lie.png")]);
  expect(events).toEqual([{ type: "refused", reason: "type", names: ["a.svg", "b.mp4"] }]);
  uploads[0]!.fail(new RefusedFileError());
  await vi.waitFor(() => expect(states(batch.getSnapshot())).toEqual(["refused"]));
  batch.retry(batch.getSnapshot().map(({ id }) => id));
  batch.save(batch.getSnapshot().map(({ id }) => id));
  expect(uploads).toHaveLength(1);
  expect(batch.getSnapshot()[0]!.saveRequested).toBe(false);
});

it("deletes the files of discarded drafts, except those that a row may refer to", async () => {
  const { batch, uploads, saves, discarded, ids } = makeBatch();
  batch.add(pngFiles(3));
  uploads[0]!.done();
  uploads[1]!.done();
  await vi.waitFor(() =>
    expect(states(batch.getSnapshot())).toEqual(["uploaded", "uploaded", "uploading"]),
  );
  batch.save([ids()[1]!]);
  await vi.waitFor(() => expect(saves).toHaveLength(1));
  saves[0]!.fail(new UploadError("lost", 0));
  await vi.waitFor(() => expect(batch.getSnapshot()[1]!.state).toBe("unsaved"));

  batch.discard(ids());
  expect(batch.getSnapshot()).toEqual([]);
  expect(uploads[2]!.signal.aborted).toBe(true);
  expect(discarded).toEqual(["/stored/1.png"]);
  // Its upload had ended when it was cancelled.
  uploads[2]!.done();
  await vi.waitFor(() => expect(discarded).toEqual(["/stored/1.png", "/stored/3.png"]));
  expect(URL.revokeObjectURL).toHaveBeenCalledTimes(3);
});

it("asks before the page is left while there are drafts, and deletes them at sign-out", () => {
  const { batch, uploads } = makeBatch();
  const leaves = () => window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  expect(leaves()).toBe(true);
  batch.add(pngFiles(1));
  expect(leaves()).toBe(false);
  batch.clear();
  expect(leaves()).toBe(true);
  expect(uploads[0]!.signal.aborted).toBe(true);
});

it("reports no results of the previous user's saves after sign-out", async () => {
  const { batch, uploads, saves, events, ids } = makeBatch();
  batch.add(pngFiles(3));
  for (const { done } of uploads) done();
  await vi.waitFor(() => expect(states(batch.getSnapshot())).toEqual(Array(3).fill("uploaded")));
  batch.save(ids());
  await vi.waitFor(() => expect(saves).toHaveLength(1));
  saves[0]!.done();
  await vi.waitFor(() => expect(saves).toHaveLength(2));
  batch.clear();
  saves[1]!.done();

  batch.add(pngFiles(1));
  uploads[3]!.done();
  await vi.waitFor(() => expect(states(batch.getSnapshot())).toEqual(["uploaded"]));
  batch.save(ids());
  await vi.waitFor(() => expect(saves).toHaveLength(3));
  saves[2]!.done();
  await vi.waitFor(() => expect(batch.getSnapshot()).toEqual([]));
  expect(events).toEqual([{ type: "saved", ids: [saves[2]!.id] }]);
});
