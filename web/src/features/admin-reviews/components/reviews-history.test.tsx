import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { ReviewsPage } from "@/features/admin-reviews/components/reviews-page";
import { draftName, deleteDraft } from "@/lib/drafts";
import type { Review, Revision } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const rest = `${testBoot.apiUrl}/rest/v1`;
const avatar = (name: string) =>
  `${testBoot.apiUrl}/storage/v1/object/public/review-images/${name}`;

const review: Review = {
  id: "ana",
  client_name: "Ana",
  location: "Porto",
  message: "Obrigada.",
  image_url: avatar("new.jpg"),
  is_active: true,
  display_order: 1,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-02T00:00:00Z",
};
const before: Review = {
  ...review,
  message: "Gostei.",
  image_url: avatar("old.jpg"),
  display_order: 7,
};

let revision: Revision<Review>;
/** The deletions that get_deleted returns, newest first. */
let deletions: Revision<Review>[];
let missing: string[];
let calls: { what: string; body: unknown }[];
const record = async (what: string, request: Request) =>
  void calls.push({ what, body: JSON.parse((await request.text()) || "null") });

const server = setupServer(
  http.get(`${rest}/commission_reviews`, () => HttpResponse.json([])),
  http.get(`${rest}/reviews`, ({ request }) =>
    HttpResponse.json(
      request.headers.get("accept")?.includes("pgrst.object")
        ? { ...review, message: "Another change.", updated_at: "2026-01-03T00:00:00Z" }
        : [review],
    ),
  ),
  http.patch(`${rest}/reviews`, async ({ request }) => {
    await record("update", request);
    return HttpResponse.json([review]);
  }),
  http.post(`${rest}/reviews`, async ({ request }) => {
    await record("insert", request);
    return new HttpResponse(null, { status: 201 });
  }),
  http.delete(`${rest}/reviews`, () => new HttpResponse(null, { status: 204 })),
  http.post(`${rest}/rpc/get_history`, async ({ request }) => {
    await record("history", request);
    return HttpResponse.json([revision]);
  }),
  http.post(`${rest}/rpc/get_deleted`, async ({ request }) => {
    const { before: end = 1000 } = (await request.json()) as { before?: number };
    return HttpResponse.json(deletions.filter(({ id }) => id < end).slice(0, 200));
  }),
  http.post(`${rest}/rpc/restore_files`, async ({ request }) => {
    await record("files", request);
    return HttpResponse.json({ missing });
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  deleteDraft(draftName("owner", "reviews"));
  calls = [];
  missing = [];
  deletions = [];
  revision = {
    id: 1,
    row_id: "ana",
    action: "update",
    actor: "ines@alvor.example",
    changed_at: "2026-01-02T00:00:00Z",
    row_before: before,
    replaced_files: [],
  };
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

async function open() {
  const user = userEvent.setup();
  const toasts = collectToasts();
  renderApp(<ReviewsPage />, { owner: testOwner(), auth: ownerAuth });
  await screen.findByText("Ana");
  return { user, toasts };
}

async function openVersion() {
  const opened = await open();
  await opened.user.click(screen.getByRole("button", { name: "History of Ana" }));
  await opened.user.click(await screen.findByRole("button", { name: /^Until 2 January 2026/ }));
  return opened;
}

it("A-history-back: an earlier version shows what differs, and is restored with its files but without its place in the order", async () => {
  const { user, toasts } = await openVersion();
  const dialog = within(screen.getByRole("dialog", { name: "History of Ana" }));
  expect(dialog.getByText("Then ines@alvor.example changed it")).toBeVisible();
  expect(dialog.getAllByRole("term").map((label) => label.textContent)).toEqual([
    "Message",
    "Avatar image",
  ]);
  expect(dialog.getByText("Gostei.")).toBeVisible();
  expect(dialog.getByText("An image (another than now)")).toBeVisible();
  await user.click(dialog.getByRole("button", { name: "Bring this version back" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "The earlier version is back" }]));
  expect(calls[0]).toEqual({ what: "history", body: { table: "reviews", id: "ana" } });
  expect(calls.filter(({ what }) => what !== "history")).toEqual([
    { what: "files", body: { urls: [avatar("old.jpg")] } },
    {
      what: "update",
      body: {
        client_name: "Ana",
        location: "Porto",
        message: "Gostei.",
        image_url: avatar("old.jpg"),
        is_active: true,
      },
    },
  ]);
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
});

it("A-history-replaced: a file that was replaced under its name is restored after the row is saved", async () => {
  revision.replaced_files = [avatar("new.jpg")];
  revision.row_before = review;
  const { user, toasts } = await openVersion();
  const dialog = within(screen.getByRole("dialog", { name: "History of Ana" }));
  expect(dialog.getByText("As it was before it was replaced")).toBeVisible();
  await user.click(dialog.getByRole("button", { name: "Bring this version back" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "The earlier version is back" }]));
  expect(calls.filter(({ what }) => what !== "history")).toMatchObject([
    { what: "files", body: { urls: [avatar("new.jpg")] } },
    { what: "update" },
    { what: "files", body: { urls: [avatar("new.jpg")], at: "2026-01-02T00:00:00Z" } },
  ]);
});

it("A-history-back: a row that was changed meanwhile is not overwritten", async () => {
  server.use(http.patch(`${rest}/reviews`, () => HttpResponse.json([])));
  const { user, toasts } = await openVersion();
  await user.click(screen.getByRole("button", { name: "Bring this version back" }));
  await waitFor(() =>
    expect(toasts).toMatchObject([
      { description: "It has been changed in the meantime. Please look at it again." },
    ]),
  );
  expect(screen.getByRole("dialog")).toBeVisible();
});

it("A-history-back: a history that cannot be loaded can be requested again", async () => {
  server.use(
    http.post(`${rest}/rpc/get_history`, () => new HttpResponse("{}", { status: 503 }), {
      once: true,
    }),
  );
  const { user } = await open();
  await user.click(screen.getByRole("button", { name: "History of Ana" }));
  expect(await screen.findByText("This could not be loaded.")).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByRole("button", { name: /^Until / })).toBeVisible();
});

it("A-history-more: older deletions load on request", async () => {
  deletions = Array.from({ length: 203 }, (_, n) => ({
    ...revision,
    id: 300 - n,
    row_id: `r${n}`,
    action: "delete" as const,
    row_before: { ...before, id: `r${n}`, client_name: `Rui ${n}` },
  }));
  const { user } = await open();
  await user.click(screen.getByRole("button", { name: "Recently deleted" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Recently deleted" }));
  expect(await dialog.findByRole("button", { name: "Bring back Rui 199" })).toBeVisible();
  expect(dialog.queryByRole("button", { name: "Bring back Rui 200" })).toBeNull();
  server.use(
    http.post(`${rest}/rpc/get_deleted`, () => HttpResponse.json({}, { status: 500 }), {
      once: true,
    }),
  );
  await user.click(dialog.getByRole("button", { name: "Show more" }));
  expect(await dialog.findByRole("alert")).toHaveTextContent("This could not be loaded.");
  await user.click(dialog.getByRole("button", { name: "Show more" }));
  expect(await dialog.findByRole("button", { name: "Bring back Rui 202" })).toBeVisible();
  expect(dialog.queryByRole("alert")).toBeNull();
  expect(dialog.getByRole("status")).toHaveTextContent("Entries shown: 203");
  await waitFor(() => expect(dialog.getByRole("status")).toHaveFocus());
  expect(dialog.getAllByRole("listitem")).toHaveLength(203);
  expect(dialog.queryByRole("button", { name: "Show more" })).toBeNull();
});

it("A-history-deleted: a deleted review is restored without a file that no longer exists, and a toast says so", async () => {
  revision = { ...revision, action: "delete", actor: null };
  deletions = [revision];
  missing = [avatar("old.jpg")];
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Recently deleted" }));
  expect(await screen.findByText(/^Deleted 2 January 2026, \d\d:\d\d$/)).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Bring back Ana" }));
  await waitFor(() =>
    expect(toasts).toMatchObject([
      { title: "Ana is back", description: "Files that no longer exist: 1" },
    ]),
  );
  const { updated_at: _, ...row } = before;
  expect(calls.at(-1)).toEqual({ what: "insert", body: { ...row, image_url: null } });
});

it("A-history-deleted: a press on another row's button while one is brought back brings that row back after it", async () => {
  deletions = ["Rui", "Eva"].map((name, n) => ({
    ...revision,
    id: 20 - n,
    row_id: name,
    action: "delete",
    row_before: { ...before, id: name, client_name: name },
  }));
  let insertFirst = () => {};
  const firstInserted = new Promise<void>((done) => (insertFirst = done));
  const inserted: string[] = [];
  server.use(
    http.post(`${rest}/reviews`, async ({ request }) => {
      const { id } = (await request.json()) as Review;
      inserted.push(id);
      if (id === "Rui") await firstInserted;
      return new HttpResponse(null, { status: 201 });
    }),
  );
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Recently deleted" }));
  const button = (name: string) => screen.findByRole("button", { name: `Bring back ${name}` });
  await user.click(await button("Rui"));
  await user.click(await button("Eva"));
  expect(await button("Eva")).toHaveAttribute("aria-busy", "true");
  await waitFor(() => expect(inserted).toEqual(["Rui"]));
  insertFirst();
  await waitFor(() =>
    expect(toasts).toMatchObject([{ title: "Rui is back" }, { title: "Eva is back" }]),
  );
  await waitFor(async () => expect(await button("Eva")).not.toHaveAttribute("aria-busy"));
  expect(await button("Eva")).toHaveFocus(); // the server of this test leaves the row in the list
});

it("A-history-undo: the toast's Undo brings a deleted review back, and a failure is shown", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Delete review by Ana" }));
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(toasts).toHaveLength(1));
  expect(toasts[0]!.action!.label).toBe("Undo");
  toasts[0]!.action!.onClick(); // the newest revision is not the deletion yet
  await waitFor(() =>
    expect(toasts[1]).toMatchObject({ description: "It could not be brought back." }),
  );
  revision = { ...revision, action: "delete" };
  toasts[0]!.action!.onClick();
  await waitFor(() => expect(toasts[2]).toMatchObject({ title: "Ana is back" }));
  const { updated_at: _, ...row } = before;
  expect(calls.at(-1)).toEqual({ what: "insert", body: row });
});
