import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { DraftBatch } from "@/features/admin-products/draft-batch";
import { persistBatch } from "@/features/admin-products/persist-batch";
import { draftName, deletePictureDrafts, hasDraft, saveDraft } from "@/lib/drafts";
import { pngFile } from "@/test/files";

const form = draftName("ana", "batch");
const stored = "https://a.example/storage/v1/object/public/product-images/1.png";

/** Opens a page with a batch of drafts. The page can end without any event, like a killed tab. */
function openPage() {
  const sent: File[] = [];
  const done: ((url: string) => void)[] = [];
  const batch = new DraftBatch({
    upload: (file) =>
      new Promise((resolve) => {
        sent.push(file);
        done.push(resolve);
      }),
    discard: async () => undefined,
    save: async () => undefined,
  });
  const leave = persistBatch(batch, form);
  const rows = () => batch.getSnapshot().map(({ id, state, values }) => [id, state, values.title]);
  return { batch, sent, done, leave, rows };
}

beforeEach(() => {
  localStorage.clear();
  // jsdom has no IndexedDB, so it behaves like a browser that stores no files.
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

it("restores the drafts of an earlier page, and uses a file that is chosen again for its draft", async () => {
  const first = openPage();
  first.batch.add([pngFile("1.png"), pngFile("2.png")]);
  first.done[0]!(stored);
  await vi.waitFor(() => expect(first.rows()[0]![1]).toBe("uploaded"));
  const [one, two] = first.batch.getSnapshot().map(({ id }) => id);
  first.batch.edit(two!, { title: "Mar" });
  await vi.waitFor(() => expect(localStorage.getItem(`atelie.draft.${form}`)).toContain("Mar"));
  first.leave();

  const head = vi.fn(async () => new Response(null, { status: 200 }));
  vi.stubGlobal("fetch", head);
  const second = openPage();
  await vi.waitFor(() =>
    expect(second.rows()).toEqual([
      [one, "uploaded", "1"],
      [two, "missing", "Mar"],
    ]),
  );
  expect(head).toHaveBeenCalledWith(stored, { method: "HEAD", cache: "no-store" });
  expect(second.sent).toEqual([]);
  second.batch.save([two!]); // no picture is uploaded yet
  expect(second.rows()[1]).toEqual([two, "missing", "Mar"]);
  second.batch.add([pngFile("2.png"), pngFile("3.png")]);
  expect(second.rows().slice(0, 2)).toEqual([
    [one, "uploaded", "1"],
    [two, "uploading", "Mar"],
  ]);
  expect(second.sent.map(({ name }) => name)).toEqual(["2.png", "3.png"]);
  second.batch.discard(second.batch.getSnapshot().map(({ id }) => id));
  expect(hasDraft(form)).toBe(false);
  second.leave();
});

it("marks a picture as missing if the server has deleted it meanwhile", async () => {
  const values = { title: "Mar", artwork_type: "oil", dimensions: "", medium: "" };
  saveDraft(form, [{ id: "one", name: "1.png", url: stored, attempted: false, values }]);
  vi.stubGlobal("fetch", async () => new Response(null, { status: 404 }));
  const page = openPage();
  await vi.waitFor(() => expect(page.rows()).toEqual([["one", "missing", "Mar"]]));
  page.leave();
});

it("the batch is deleted at sign-out, unlike typed drafts", () => {
  saveDraft(form, []);
  saveDraft(`${form}~2`, []);
  saveDraft(draftName("ana", "reviews"), { words: "Azul" });
  saveDraft(draftName("rui", "batch"), []);
  deletePictureDrafts("ana");
  expect(Object.keys(localStorage).sort()).toEqual([
    "atelie.draft.ana/reviews",
    "atelie.draft.rui/batch",
  ]);
});
