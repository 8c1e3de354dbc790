import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { delay, http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { SeriesPage } from "@/features/admin-products/components/series-page";
import { deleteDraft, draftName } from "@/lib/drafts";
import type { MoveArgs, Series } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const rest = `${testBoot.apiUrl}/rest/v1`;
let rows: Series[];
const inserted: Partial<Series>[] = [];
const moves: MoveArgs[] = [];

const server = setupServer(
  http.get(`${rest}/series`, ({ request }) =>
    HttpResponse.json(request.headers.get("accept")?.includes("pgrst.object") ? rows[0] : rows),
  ),
  http.get(`${rest}/series_works`, () => HttpResponse.json([])),
  http.get(`${rest}/products`, () => HttpResponse.json([])),
  http.post(`${rest}/series`, async ({ request }) => {
    const row = (await request.json()) as Series;
    inserted.push(row);
    rows = [...rows, row];
    return HttpResponse.json([{ id: row.id }], { status: 201 });
  }),
  http.patch(`${rest}/series`, async ({ request }) => {
    const id = new URL(request.url).searchParams.get("id")!.replace("eq.", "");
    const change = (await request.json()) as Partial<Series>;
    rows = rows.map((row) => (row.id === id ? { ...row, ...change } : row));
    return HttpResponse.json(rows.filter((row) => row.id === id));
  }),
  http.delete(`${rest}/series`, ({ request }) => {
    const id = new URL(request.url).searchParams.get("id")!.replace("eq.", "");
    rows = rows.filter((row) => row.id !== id);
    return new HttpResponse(null, { status: 204 });
  }),
  http.post(`${rest}/rpc/move_series`, async ({ request }) => {
    const move = (await request.json()) as MoveArgs;
    moves.push(move);
    await delay(50);
    const [moved] = rows.filter(({ id }) => id === move.ids[0]);
    const others = rows.filter((row) => row !== moved);
    others.splice(others.findIndex(({ id }) => id === move.target) + 1, 0, moved!);
    rows = others;
    return new HttpResponse(null, { status: 204 });
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  inserted.length = 0;
  moves.length = 0;
  deleteDraft(draftName("owner", "series"));
  rows = ["Luz", "Mar", "Cal"].map((title) => ({
    id: title.toLowerCase(),
    slug: title.toLowerCase(),
    title,
    title_pt: null,
    text: null,
    text_pt: null,
    cover_id: null,
    position: title,
    is_published: title !== "Cal",
    created_at: "2026-01-01T00:00:00Z",
    types: [],
    image_url: null,
  }));
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

async function open() {
  const user = userEvent.setup();
  const toasts = collectToasts();
  renderApp(<SeriesPage />, { owner: testOwner(), auth: ownerAuth });
  await screen.findByText("Luz");
  return { user, toasts };
}

const names = () =>
  screen
    .getAllByRole("button", { name: /^Reorder / })
    .map((grip) => grip.getAttribute("aria-label")!.replace("Reorder ", ""));

it("A-series-form: the slug is made from the title, and a used slug gets a number", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Add Series" }));
  const form = within(await screen.findByRole("dialog"));
  const slug = form.getByLabelText("Name in the address");
  await user.type(form.getByLabelText("Title"), "Água & sal");
  expect(slug).toHaveValue("agua-sal");
  await user.clear(form.getByLabelText("Title"));
  await user.type(form.getByLabelText("Title"), "Mar");
  expect(slug).toHaveValue("mar-2");
  await user.clear(slug);
  await user.type(slug, "mar");
  expect(await form.findByText("Another series has this name")).toBeVisible();
  await user.clear(slug);
  await user.type(slug, "mar alto");
  expect(await form.findByText(/^Use lower case letters/)).toBeVisible();
  await user.clear(slug);
  await user.type(slug, "mar-alto");
  await user.type(form.getByLabelText(/^Text in Portuguese/), "Longe da costa.");
  await user.click(form.getByRole("button", { name: "Add Series" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Series added" }]));
  expect(inserted).toMatchObject([
    {
      title: "Mar",
      title_pt: null,
      text: null,
      text_pt: "Longe da costa.",
      slug: "mar-alto",
      is_published: true,
    },
  ]);
});

it("A-series-form: a new series whose response was lost is stored once, and keeps its slug", async () => {
  server.use(
    http.get(`${rest}/series`, ({ request }) => {
      const id = new URL(request.url).searchParams.get("id");
      return HttpResponse.json(id ? rows.find((row) => id === `eq.${row.id}`) : rows);
    }),
    http.post(`${rest}/series`, async ({ request }) => {
      const row = (await request.json()) as Series;
      if (rows.some(({ id }) => id === row.id)) return HttpResponse.json([], { status: 201 });
      const { created_at } = rows[0]!;
      rows = [...rows, { ...rows[0]!, ...row, position: "Onda", updated_at: created_at }];
      return HttpResponse.error();
    }),
  );
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Add Series" }));
  const form = within(await screen.findByRole("dialog"));
  await user.type(form.getByLabelText("Title"), "Onda");
  await user.click(form.getByRole("button", { name: "Add Series" }));
  await waitFor(() =>
    expect(toasts).toMatchObject([{ title: "The series could not be changed." }]),
  );
  await user.type(form.getByLabelText(/^Text in Portuguese/), "Longe da costa.");
  await user.click(form.getByRole("button", { name: "Add Series" }));
  await waitFor(() => expect(toasts[1]).toMatchObject({ title: "Series added" }));
  expect(rows).toHaveLength(4);
  expect(rows[3]).toMatchObject({ title: "Onda", slug: "onda", text_pt: "Longe da costa." });
});

it("a series is saved, and a failure is shown", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Edit Luz" }));
  const form = within(await screen.findByRole("dialog"));
  await user.clear(form.getByLabelText("Title"));
  await user.click(form.getByRole("button", { name: "Save changes" }));
  expect(await form.findByText("Title is required")).toBeVisible();
  await user.type(form.getByLabelText("Title"), "Luz rasante");
  expect(form.getByLabelText("Name in the address")).toHaveValue("luz");
  server.use(
    http.patch(`${rest}/series`, () => HttpResponse.json({}, { status: 500 }), { once: true }),
  );
  await user.click(form.getByRole("button", { name: "Save changes" }));
  await waitFor(() =>
    expect(toasts).toMatchObject([{ title: "The series could not be changed." }]),
  );
  await user.click(form.getByRole("button", { name: "Save changes" }));
  await waitFor(() => expect(toasts[1]).toMatchObject({ title: "Series updated" }));
  expect(await screen.findByText("Luz rasante")).toBeVisible();
});

it("A-series-order: a series is moved with one request, is announced, and can be moved back", async () => {
  const { user, toasts } = await open();
  expect(screen.getByText("Hidden")).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Move Luz down" }));
  expect(names()).toEqual(["Mar", "Luz", "Cal"]);
  expect(screen.getByText("Luz: position 2 of 3")).toHaveAttribute("role", "status");
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Order of the series updated" }]));
  expect(moves).toEqual([{ ids: ["luz"], place: "after", target: "mar" }]);
  toasts[0]!.action!.onClick();
  await waitFor(() => expect(toasts[1]).toMatchObject({ title: "The change is undone" }));
  expect(moves[1]).toEqual({ ids: ["luz"], place: "first", target: null });
});

it("A-history-undo: Undo of a move changes nothing if the series were moved since", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Move Luz down" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Order of the series updated" }]));
  rows = rows.toReversed(); // another owner moves series
  toasts[0]!.action!.onClick();
  await waitFor(() =>
    expect(toasts[1]).toMatchObject({
      description: "It has been changed in the meantime. Please look at it again.",
    }),
  );
  expect(moves).toHaveLength(1);
  await waitFor(() => expect(names()).toEqual(["Cal", "Luz", "Mar"]));
});

it("a series is deleted after a question", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Delete Mar" }));
  expect(screen.getByRole("alertdialog")).toHaveAccessibleDescription(
    "Are you sure you want to delete this series? Its works stay. This action cannot be undone.",
  );
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Series deleted" }]));
  expect(names()).toEqual(["Luz", "Cal"]);
});

it("A-history-deleted: a deleted series whose slug another series has does not come back, and the reason is shown", async () => {
  const deleted = { ...rows[1]!, id: "old", title: "Mar antigo", updated_at: null };
  server.use(
    http.get(`${rest}/series`, ({ request }) => {
      const id = new URL(request.url).searchParams.get("id");
      return HttpResponse.json(id ? rows.filter((row) => `eq.${row.id}` === id) : rows);
    }),
    http.post(`${rest}/series`, () =>
      HttpResponse.json({ code: "23505", message: "duplicate key value" }, { status: 409 }),
    ),
    http.post(`${rest}/rpc/get_deleted`, () =>
      HttpResponse.json([
        {
          id: 1,
          row_id: deleted.id,
          action: "delete",
          actor: null,
          changed_at: "2026-01-02T00:00:00Z",
          row_before: deleted,
          replaced_files: [],
        },
      ]),
    ),
    http.post(`${rest}/rpc/get_history`, () => HttpResponse.json([])),
  );
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Recently deleted" }));
  const button = () => screen.findByRole("button", { name: "Bring back Mar antigo" });
  await user.click(await button());
  await waitFor(() =>
    expect(toasts).toMatchObject([
      { description: "Another series has the same name in the address. Change that name first." },
    ]),
  );
  await waitFor(async () => expect(await button()).not.toHaveAttribute("aria-busy"));

  // The same error means that the row is back already, for example because only the response to an earlier request was lost.
  rows = [...rows, deleted];
  await user.click(await button());
  await waitFor(() => expect(toasts[1]).toMatchObject({ title: "Mar antigo is back" }));
});
