import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { Toaster } from "@/components/ui/toaster";
import { CoversPage } from "@/features/admin-covers/components/covers-page";
import { draftName, deleteDraft } from "@/lib/drafts";
import type { CoverImage } from "@/lib/types";
import { mp4File, pngFile } from "@/test/files";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp } from "@/test/render";
import { resumableUploads } from "@/test/resumable";
import { collectToasts } from "@/test/toasts";

// jsdom cannot play films.
vi.mock("@/lib/upload/video-still", () => ({ captureStill: async () => new Blob(["a frame"]) }));

// The page's own origin, as in production: uploads to another origin would need a preflight request.
const apiUrl = window.location.origin;
const covers = `${apiUrl}/rest/v1/cover_images`;
const bucket = `${apiUrl}/storage/v1/object/cover-images`;
const url = (name: string) => `${apiUrl}/storage/v1/object/public/cover-images/${name}`;

let row: CoverImage;
let added: CoverImage[];
const rows = () => [row, ...added].toSorted((a, b) => a.display_order! - b.display_order!);
const calls: { what: string; body: unknown }[] = [];
const server = setupServer(
  http.get(covers, ({ request }) =>
    HttpResponse.json(request.headers.get("accept")?.includes("pgrst.object") ? row : rows()),
  ),
  http.post(`${apiUrl}/rest/v1/rpc/reorder_covers`, async ({ request }) => {
    const { ids } = (await request.json()) as { ids: string[] };
    calls.push({ what: "order", body: ids });
    const all = rows();
    const rest = all.filter(({ id }) => !ids.includes(id));
    [...ids.map((id) => all.find((one) => one.id === id)!), ...rest].forEach((one, n) => {
      one.display_order = n + 1;
    });
    return new HttpResponse(null, { status: 204 });
  }),
  http.patch(covers, async ({ request }) => {
    const change = (await request.json()) as Partial<CoverImage>;
    calls.push({ what: "update", body: change });
    row = { ...row, ...change };
    return HttpResponse.json([row]);
  }),
  http.post(covers, async ({ request }) => {
    const cover = (await request.json()) as CoverImage;
    calls.push({ what: "insert", body: cover });
    if (cover.id === row.id) row = { ...cover };
    else added.push({ ...cover, title: null, description: null });
    return new HttpResponse(null, { status: 201 });
  }),
  http.delete(covers, () => {
    calls.push({ what: "delete", body: null });
    return new HttpResponse(null, { status: 204 });
  }),
  http.post(`${bucket}/:name`, ({ params }) => {
    calls.push({ what: "upload", body: params.name });
    return HttpResponse.json({ Id: "1", Key: "k" });
  }),
  ...resumableUploads(apiUrl, (name) => calls.push({ what: "upload", body: name })),
  http.delete(bucket, async ({ request }) => {
    calls.push({ what: "remove file", body: await request.json() });
    return HttpResponse.json([]);
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  calls.length = 0;
  added = [];
  deleteDraft(draftName("owner", "covers/c1"));
  row = {
    id: "c1",
    image_url: url("c.jpg"),
    title: "Costa",
    description: null,
    media_type: "image",
    video_thumbnail_url: null,
    is_active: true,
    display_order: 1,
  };
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

async function open() {
  const user = userEvent.setup();
  const toasts = collectToasts();
  const view = renderApp(<CoversPage />, {
    owner: testOwner(apiUrl),
    auth: ownerAuth,
    boot: { apiUrl },
  });
  await screen.findByRole("heading", { name: "Costa" });
  return { user, toasts, ...view };
}

it("A-cov-3: saves the switch Active immediately", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getByRole("switch", { name: "Active" }));
  expect(screen.getByRole("switch", { name: "Inactive" })).not.toBeChecked();
  await waitFor(() =>
    expect(toasts).toMatchObject([{ title: "Cover image updated successfully" }]),
  );
  expect(calls).toEqual([{ what: "update", body: { is_active: false } }]);
});

it("A-cov-3: resets the switch and shows the server's message when saving fails", async () => {
  const { user, toasts } = await open();
  server.use(
    http.patch(covers, () => HttpResponse.json({ message: "The wall is wet" }, { status: 500 })),
  );
  await user.click(screen.getByRole("switch", { name: "Active" }));
  await waitFor(() =>
    expect(toasts).toMatchObject([
      { title: "Error", description: "The wall is wet", destructive: true },
    ]),
  );
  expect(await screen.findByRole("switch", { name: "Active" })).toBeChecked();
});

it("A-cov-4: saves only changed fields", async () => {
  const { user, toasts } = await open();
  const save = screen.getByRole("button", { name: "Save" });
  expect(save).toBeDisabled();
  const title = screen.getByRole("textbox", { name: "Title" });
  await user.type(title, "!");
  expect(save).toBeEnabled();
  await user.type(title, "{Backspace}");
  expect(save).toBeDisabled();
  await user.type(title, " do sul");
  await user.click(save);
  await waitFor(() => expect(toasts).toHaveLength(1));
  expect(calls).toEqual([{ what: "update", body: { title: "Costa do sul" } }]);
  await waitFor(() => expect(screen.getByRole("button", { name: "Save" })).toBeDisabled());
});

it("A-cov-11: covers whose files were chosen together keep the order of the choice, and show their pictures immediately", async () => {
  const { user, container } = await open();
  let release = () => {};
  const firstMayArrive = new Promise<void>((resolve) => {
    release = resolve;
  });
  server.use(
    http.post(`${bucket}/:name`, async ({ request }) => {
      if ((await request.arrayBuffer()).byteLength > 2000) await firstMayArrive;
      return HttpResponse.json({ Id: "1", Key: "k" });
    }),
  );
  const input = container.querySelector<HTMLInputElement>("input[type=file]")!;
  await user.upload(input, [
    new File([pngFile("a.png"), "x".repeat(2000)], "a.png", { type: "image/png" }),
    pngFile("b.png"),
    pngFile("c.png"),
  ]);
  await waitFor(() => expect(added).toHaveLength(2));
  release();
  await waitFor(() => expect(added).toHaveLength(3));
  await waitFor(() => expect(screen.queryByText("a.png")).not.toBeInTheDocument());
  // The cover that was inserted last moves before the two that were inserted earlier.
  expect(calls.filter(({ what }) => what === "insert").at(-1)!.body).toMatchObject({
    display_order: 4,
  });
  expect(
    rows()
      .map(({ id }) => id)
      .slice(0, 2),
  ).toEqual(["c1", added[2]!.id]);
  expect(rows().map(({ display_order }) => display_order)).toEqual([1, 2, 3, 4]);
  const cards = screen.getAllByRole("listitem");
  expect(cards).toHaveLength(4);
  for (const card of cards.slice(1)) {
    expect(card.querySelector("img[src^='blob:']")).toBeInTheDocument();
  }
});

it("A-cov-12: moves a cover by its number with one request, and uses no number twice", async () => {
  added = [2, 3].map((n) => ({ ...row, id: `c${n}`, title: `Nr ${n}`, display_order: n }));
  const { user, toasts } = await open();
  const card = within(screen.getByRole("listitem", { name: "Costa" }));
  await user.clear(card.getByRole("spinbutton", { name: "Order" }));
  await user.type(card.getByRole("spinbutton", { name: "Order" }), "9");
  await user.click(card.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(toasts).toHaveLength(1));
  expect(calls).toEqual([{ what: "order", body: ["c2", "c3", "c1"] }]);
  const moved = within(screen.getByRole("listitem", { name: "Costa" }));
  await waitFor(() => expect(moved.getByRole("spinbutton", { name: "Order" })).toHaveValue(3));
  expect(moved.getByRole("button", { name: "Save" })).toBeDisabled();
});

it("A-history-undo: the toast's Undo restores order, texts and switch, but never over a newer change", async () => {
  added = [2, 3].map((n) => ({ ...row, id: `c${n}`, title: `Nr ${n}`, display_order: n }));
  const user = userEvent.setup();
  renderApp(
    <>
      <CoversPage />
      <Toaster />
    </>,
    { owner: testOwner(apiUrl), auth: ownerAuth, boot: { apiUrl } },
  );
  await screen.findByRole("heading", { name: "Costa" });
  const card = () => within(screen.getByRole("listitem", { name: /^Costa/ }));
  const undo = async () => {
    const button = await screen.findByRole("button", { name: "Undo" });
    await user.click(button);
    // Wait until the toast is gone. Otherwise its button could be taken for that of the next toast.
    await waitFor(() => expect(button).not.toBeInTheDocument());
  };
  const undone = "The change is undone";

  await user.clear(card().getByRole("spinbutton", { name: "Order" }));
  await user.type(card().getByRole("spinbutton", { name: "Order" }), "3");
  await user.type(card().getByRole("textbox", { name: "Title" }), " do sul");
  await user.click(card().getByRole("button", { name: "Save" }));
  await screen.findByText("Cover image updated successfully");
  await undo();
  await screen.findByText(undone);
  expect(calls.slice(2)).toEqual([
    { what: "update", body: { title: "Costa" } },
    { what: "order", body: ["c1", "c2", "c3"] },
  ]);
  await waitFor(() => expect(card().getByRole("spinbutton", { name: "Order" })).toHaveValue(1));
  expect(card().getByRole("textbox", { name: "Title" })).toHaveValue("Costa");

  calls.length = 0;
  await user.click(card().getByRole("switch"));
  await waitFor(() => expect(calls).toHaveLength(1));
  await undo();
  await waitFor(() => expect(screen.getAllByText(undone)).toHaveLength(2));
  expect(calls).toEqual([
    { what: "update", body: { is_active: false } },
    { what: "update", body: { is_active: true } },
  ]);
  await waitFor(() => expect(card().getByRole("switch")).toBeChecked());

  calls.length = 0;
  await user.click(card().getByRole("textbox", { name: "Title" }));
  expect(card().getByRole("textbox", { name: "Title" })).toHaveFocus();
  await user.keyboard("!");
  expect(card().getByRole("textbox", { name: "Title" })).toHaveValue("Costa!");
  await user.clear(card().getByRole("spinbutton", { name: "Order" }));
  await user.type(card().getByRole("spinbutton", { name: "Order" }), "2");
  await user.click(card().getByRole("button", { name: "Save" }));
  await waitFor(() => expect(calls).toHaveLength(2));
  added[0]!.display_order = 4; // another owner moves a cover
  await undo();
  expect(
    await screen.findByText("It has been changed in the meantime. Please look at it again."),
  ).toBeInTheDocument();
  expect(calls).toHaveLength(2);
});

it("A-history-back A-history-undo: an earlier version of a cover is restored without its number, and a deleted cover by the toast", async () => {
  const before = { ...row, title: "Cais", image_url: url("old.jpg"), display_order: 9 };
  let action = "update";
  server.use(
    http.post(`${apiUrl}/rest/v1/rpc/get_history`, () =>
      HttpResponse.json([
        {
          id: 1,
          row_id: "c1",
          action,
          actor: null,
          changed_at: "2026-01-02T00:00:00Z",
          row_before: before,
          replaced_files: [],
        },
      ]),
    ),
    http.post(`${apiUrl}/rest/v1/rpc/restore_files`, async ({ request }) => {
      calls.push({ what: "files", body: await request.json() });
      return HttpResponse.json({ missing: [] });
    }),
  );
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "History of Costa" }));
  await user.click(await screen.findByRole("button", { name: /^Until 2 January 2026/ }));
  await user.click(screen.getByRole("button", { name: "Bring this version back" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "The earlier version is back" }]));
  expect(calls).toMatchObject([
    { what: "files", body: { urls: [url("old.jpg")] } },
    { what: "update", body: { title: "Cais", image_url: url("old.jpg") } },
  ]);
  expect(calls[1]!.body).not.toHaveProperty("display_order");

  await screen.findByRole("heading", { name: "Cais" });
  calls.length = 0;
  action = "delete";
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await user.click(screen.getAllByRole("button", { name: "Delete" }).at(-1)!);
  await waitFor(() => expect(toasts).toHaveLength(2));
  calls.length = 0;
  toasts[1]!.action!.onClick();
  await waitFor(() => expect(toasts[2]).toMatchObject({ title: "Cais is back" }));
  expect(calls.map(({ what }) => what)).toEqual(["files", "insert", "order"]);
  expect(calls[1]!.body).toMatchObject({ id: "c1", title: "Cais", display_order: 9 });
});

it("A-cov-4: requires a number of at least 1", async () => {
  const { user } = await open();
  const order = screen.getByRole("spinbutton", { name: "Order" });
  await user.clear(order);
  await user.type(order, "0");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(order).toHaveAccessibleDescription("Order starts at 1"));
  expect(order).toHaveFocus();
  expect(calls).toEqual([]);
});

it("uploads a video and adds it as the last cover, active, with the video's own URL as poster", async () => {
  const { user, container } = await open();
  const input = container.querySelector<HTMLInputElement>("input[type=file]")!;
  await user.upload(input, mp4File("Cais.MP4"));
  await waitFor(() =>
    expect(calls.map(({ what }) => what)).toEqual(["upload", "upload", "insert"]),
  );
  const name = calls[0]!.body as string;
  expect(name).toMatch(/^[0-9a-f-]{36}\.mp4$/);
  expect(calls[1]!.body).toBe(name.replace(".mp4", ".still.jpg"));
  expect(calls[2]!.body).toEqual({
    id: expect.any(String),
    image_url: url(name),
    media_type: "video",
    display_order: 2,
    is_active: true,
    video_thumbnail_url: url(name),
  });
});

it("A-cov-2: shows a failed upload in the grid, with a retry", async () => {
  const { user, toasts, container } = await open();
  server.use(
    http.post(
      `${bucket}/:name`,
      () => HttpResponse.json({ statusCode: "413", message: "Too large" }, { status: 400 }),
      { once: true },
    ),
  );
  const input = container.querySelector<HTMLInputElement>("input[type=file]")!;
  await user.upload(input, pngFile("cais.png"));
  await waitFor(() =>
    expect(toasts).toMatchObject([{ title: "Upload failed", description: "Too large" }]),
  );
  await user.click(await screen.findByRole("button", { name: "Try again" }));
  await waitFor(() => expect(calls.map(({ what }) => what)).toEqual(["upload", "insert"]));
  await waitFor(() => expect(screen.queryByText("cais.png")).not.toBeInTheDocument());
});

it("a cover whose upload is cancelled while its row waits behind another is not created", async () => {
  const { user, container, queryClient } = await open();
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
  server.use(
    http.post(
      covers,
      async ({ request }) => {
        const cover = (await request.json()) as CoverImage;
        await mayAnswer;
        calls.push({ what: "insert", body: cover });
        added.push({ ...cover, title: null, description: null });
        return new HttpResponse(null, { status: 201 });
      },
      { once: true },
    ),
  );
  const input = container.querySelector<HTMLInputElement>("input[type=file]")!;
  await user.upload(input, [pngFile("cais.png"), pngFile("duna.png")]);
  await waitFor(() => expect(calls.map(({ what }) => what)).toEqual(["upload", "upload"]));
  const second = (await screen.findByText("duna.png")).closest("li")!;
  await user.click(within(second).getByRole("button", { name: /^Cancel/ }));
  answer();
  await waitFor(() => expect(queryClient.isMutating()).toBe(0));
  expect(calls.map(({ what }) => what)).toEqual(["upload", "upload", "insert"]);
  expect(added).toHaveLength(1);
});

it("A-up-offline: Try again adds no second cover if the row was stored, and only the response was lost", async () => {
  const { user, container } = await open();
  server.use(
    http.post(
      covers,
      async ({ request }) => {
        const cover = (await request.json()) as CoverImage;
        added.push({ ...cover, title: null, description: null });
        return HttpResponse.error();
      },
      { once: true },
    ),
  );
  const input = container.querySelector<HTMLInputElement>("input[type=file]")!;
  await user.upload(input, pngFile("cais.png"));
  await user.click(await screen.findByRole("button", { name: "Try again" }));
  await waitFor(() => expect(screen.queryByText("cais.png")).not.toBeInTheDocument());
  expect(added).toHaveLength(1);
});

it("deletes the row, then its stored file", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Delete" }));
  expect(screen.getByRole("alertdialog")).toHaveAccessibleDescription(
    "Are you sure you want to delete this cover image? This action cannot be undone.",
  );
  await user.click(screen.getAllByRole("button", { name: "Delete" }).at(-1)!);
  await waitFor(() =>
    expect(toasts).toMatchObject([{ title: "Cover image deleted successfully" }]),
  );
  expect(calls).toEqual([
    { what: "delete", body: null },
    { what: "remove file", body: { prefixes: ["c.jpg"] } },
    { what: "order", body: [] },
  ]);
});

it("removes a deleted cover from the page before its file is deleted, so that nothing requests the file", async () => {
  const { user, toasts } = await open();
  const cards: number[] = [];
  server.use(
    http.delete(bucket, async () => {
      await waitFor(() => expect(screen.queryByRole("switch")).not.toBeInTheDocument()).catch(
        () => undefined,
      );
      cards.push(screen.queryAllByRole("switch").length);
      return HttpResponse.json([]);
    }),
    http.get(covers, () => HttpResponse.json([])),
  );
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await user.click(screen.getAllByRole("button", { name: "Delete" }).at(-1)!);
  await waitFor(() => expect(cards).toEqual([0]));
  await waitFor(() =>
    expect(toasts.map(({ title }) => title)).toContain("Cover image deleted successfully"),
  );
  expect(screen.queryByRole("switch")).not.toBeInTheDocument();
});

it("previews the cover with unsaved texts", async () => {
  const { user } = await open();
  await user.type(screen.getByRole("textbox", { name: "Description" }), "Oil of the evening");
  await user.click(screen.getByRole("button", { name: "Preview" }));
  const dialog = within(screen.getByRole("dialog", { name: "As visitors see it" }));
  expect(dialog.getAllByText("Oil of the evening")).toHaveLength(2); // in the layouts for desktop and phone
  expect(calls).toEqual([]);
});

it("reports a conflict if the same texts were changed elsewhere; a changed switch is no conflict", async () => {
  const { user, toasts } = await open();
  const title = screen.getByRole("textbox", { name: "Title" });
  await user.type(title, " do sul");
  const save = (stored: Partial<CoverImage>) => {
    row = { ...row, ...stored, updated_at: "2026-01-05T00:00:00Z" };
    server.use(
      http.patch(covers, ({ request }) =>
        HttpResponse.json(
          new URL(request.url).searchParams.get("updated_at") === "is.null" ? [] : [row],
        ),
      ),
    );
    return user.click(screen.getByRole("button", { name: "Save" }));
  };
  await save({ title: "Costa nova" });
  const question = await screen.findByRole("alertdialog", { name: "There is a newer version" });
  expect(within(question).getByText("Costa nova")).toBeInTheDocument();
  await user.click(within(question).getByRole("button", { name: "Keep editing" }));
  expect(title).toHaveValue("Costa do sul");
  expect(toasts).toEqual([]);

  await save({ title: "Costa", is_active: false });
  await waitFor(() =>
    expect(toasts).toMatchObject([{ title: "Cover image updated successfully" }]),
  );
});

it("restores typed texts after a reload", async () => {
  const { user, unmount } = await open();
  await user.type(screen.getByRole("textbox", { name: "Title" }), " do sul");
  unmount();
  await open();
  await waitFor(() =>
    expect(screen.getByRole("textbox", { name: "Title" })).toHaveValue("Costa do sul"),
  );
  expect(screen.getByRole("button", { name: "Save" })).toBeEnabled();
});

it("A-draft-1: a restored draft changes only the fields that were edited, even if the others have newer values", async () => {
  const { user, unmount } = await open();
  await user.type(screen.getByRole("textbox", { name: "Description" }), "Ao fim da tarde");
  unmount();
  row = { ...row, title: "Costa do sul", display_order: 4 };
  const view = renderApp(<CoversPage />, {
    owner: testOwner(apiUrl),
    auth: ownerAuth,
    boot: { apiUrl },
  });
  await waitFor(() =>
    expect(view.getByRole("textbox", { name: "Description" })).toHaveValue("Ao fim da tarde"),
  );
  expect(view.getByRole("textbox", { name: "Title" })).toHaveValue("Costa do sul");
  await user.click(view.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(view.getByRole("button", { name: "Save" })).toBeDisabled());
  expect(calls).toEqual([{ what: "update", body: { description: "Ao fim da tarde" } }]);
});

it("A-draft-1: what is typed while a cover is being saved stays in the form, as unsaved changes of the saved cover", async () => {
  const { user, toasts } = await open();
  let release = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    release = resolve;
  });
  server.use(
    http.patch(covers, async ({ request }) => {
      const change = (await request.json()) as Partial<CoverImage>;
      const expected = new URL(request.url).searchParams.get("updated_at");
      if (expected !== (row.updated_at ? `eq.${row.updated_at}` : "is.null"))
        return HttpResponse.json([]);
      calls.push({ what: "update", body: change });
      await mayAnswer;
      row = { ...row, ...change, updated_at: `2026-01-0${calls.length}T00:00:00Z` };
      return HttpResponse.json([row]);
    }),
  );
  const title = screen.getByRole("textbox", { name: "Title" });
  const description = screen.getByRole("textbox", { name: "Description" });
  await user.type(title, " do sul");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(calls).toHaveLength(1));
  await user.type(title, "!");
  await user.type(description, "Ao fim da tarde");
  release();
  await waitFor(() => expect(toasts).toHaveLength(1));
  const save = await screen.findByRole("button", { name: "Save" });
  expect(title).toHaveValue("Costa do sul!");
  expect(description).toHaveValue("Ao fim da tarde");
  expect(save).toBeEnabled();
  await user.click(save);
  await waitFor(() => expect(toasts).toHaveLength(2));
  expect(calls).toEqual([
    { what: "update", body: { title: "Costa do sul" } },
    { what: "update", body: { title: "Costa do sul!", description: "Ao fim da tarde" } },
  ]);
  await waitFor(() => expect(screen.getByRole("button", { name: "Save" })).toBeDisabled());
});

it("A-cov-15: saves the times of a cover, and says what visitors see", async () => {
  const { user, toasts } = await open();
  const from = screen.getByLabelText("Visible from");
  const until = screen.getByLabelText("Visible until");
  fireEvent.change(from, { target: { value: "2999-06-01T10:00" } });
  fireEvent.change(until, { target: { value: "2999-06-01T09:59" } });
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() =>
    expect(until).toHaveAccessibleDescription("The end must be after the beginning"),
  );
  expect(calls).toEqual([]);
  fireEvent.change(until, { target: { value: "2999-06-02T10:00" } });
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(toasts).toHaveLength(1));
  expect(calls).toEqual([
    {
      what: "update",
      body: {
        visible_from: new Date("2999-06-01T10:00").toISOString(),
        visible_until: new Date("2999-06-02T10:00").toISOString(),
      },
    },
  ]);
  expect(screen.getByText("Scheduled")).toBeInTheDocument();
  expect(screen.getByText("from 1 Jun 2999, 10:00")).toBeInTheDocument();
  await waitFor(() => expect(screen.getByRole("button", { name: "Save" })).toBeDisabled());

  calls.length = 0;
  fireEvent.change(from, { target: { value: "" } });
  expect(from.closest("details")).toHaveAttribute("open");
  fireEvent.change(until, { target: { value: "2020-01-01T10:00" } });
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(toasts).toHaveLength(2));
  expect(calls[0]!.body).toEqual({
    visible_from: null,
    visible_until: new Date("2020-01-01T10:00").toISOString(),
  });
  expect(screen.getByText("Ended")).toBeInTheDocument();
  expect(screen.getByText("until 1 Jan 2020, 10:00")).toBeInTheDocument();
  toasts[1]!.action!.onClick();
  await waitFor(() => expect(screen.getByText("Scheduled")).toBeInTheDocument());
});

it("A-cov-15: a typed time survives a reload and is shown", async () => {
  const { unmount } = await open();
  fireEvent.change(screen.getByLabelText("Visible until"), {
    target: { value: "2999-06-02T10:00" },
  });
  unmount();
  await open();
  const until = screen.getByLabelText("Visible until");
  await waitFor(() => expect(until).toHaveValue("2999-06-02T10:00"));
  await waitFor(() => expect(until.closest("details")).toHaveAttribute("open"));
});

it("A-cov-6: the preview crops the picture around its focus point", async () => {
  row.media = {
    [row.image_url]: {
      kind: "image",
      v: "1",
      width: 800,
      height: 600,
      widths: [800],
      focus: [0.25, 0.75],
    },
  };
  const { user } = await open();
  await user.click(screen.getByRole("button", { name: "Preview" }));
  const pictures = screen.getByRole("dialog").querySelectorAll("img");
  expect(pictures).toHaveLength(2);
  for (const { style } of pictures) expect(style.objectPosition).toBe("25% 75%");
});

it("A-cov-16: keys on its handle move a cover, and the toast's Undo moves it back", async () => {
  added = [2, 3].map((n) => ({ ...row, id: `c${n}`, title: `Nr ${n}`, display_order: n }));
  const { user, toasts } = await open();
  // jsdom has no layout, so the cards get positions one below the other.
  for (const [n, card] of screen.getAllByRole("listitem").entries())
    card.getBoundingClientRect = () => new DOMRect(0, n * 100, 100, 100);
  const handle = screen.getByRole("button", { name: "Reorder Costa" });
  act(() => handle.focus());
  await user.keyboard("[Space]");
  await screen.findByText("Costa: position 1 of 3");
  await user.keyboard("{ArrowDown}");
  await screen.findByText("Costa: position 2 of 3");
  await user.keyboard("[Space]");
  await waitFor(() =>
    expect(toasts).toMatchObject([{ title: "Cover image updated successfully" }]),
  );
  expect(calls).toEqual([{ what: "order", body: ["c2", "c1", "c3"] }]);
  const names = () =>
    screen.getAllByRole("listitem").map((card) => within(card).getByRole("heading").textContent);
  await waitFor(() => expect(names()).toEqual(["Nr 2", "Costa", "Nr 3"]));
  toasts[0]!.action!.onClick();
  await waitFor(() => expect(names()).toEqual(["Costa", "Nr 2", "Nr 3"]));
});
