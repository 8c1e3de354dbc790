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
    return new HttpResponse(null, { status: 201 });
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
