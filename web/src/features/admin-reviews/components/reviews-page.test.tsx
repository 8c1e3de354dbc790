import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { delay, http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { ReviewsPage } from "@/features/admin-reviews/components/reviews-page";
import { Toaster } from "@/components/ui/toaster";
import { draftName, deleteDraft } from "@/lib/drafts";
import type { Review } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const rest = `${testBoot.apiUrl}/rest/v1`;
let rows: Review[];
let waiting: { message_id: string }[] = [];
const inserted: unknown[] = [];
const orders: string[][] = [];
const changes: { id: string; change: Partial<Review> }[] = [];

const server = setupServer(
  http.get(`${rest}/commission_reviews`, () => HttpResponse.json(waiting)),
  http.post(`${testBoot.apiUrl}/functions/v1/commission-review`, async ({ request }) => {
    const { action } = (await request.json()) as { action?: string };
    if (action) waiting = [];
    return HttpResponse.json({
      state: action ? "declined" : "waiting",
      name: "Inês",
      place: "",
      text: "Três semanas.",
      picture: null,
      written_at: "2026-11-12T09:41:00Z",
    });
  }),
  http.get(`${rest}/reviews`, ({ request }) =>
    request.headers.get("accept")?.includes("pgrst.object")
      ? HttpResponse.json(rows[0])
      : HttpResponse.json(
          rows.toSorted((a, b) => (a.display_order ?? 99) - (b.display_order ?? 99)),
        ),
  ),
  http.patch(`${rest}/reviews`, async ({ request }) => {
    const id = new URL(request.url).searchParams.get("id")!.replace("eq.", "");
    const change = (await request.json()) as Partial<Review>;
    changes.push({ id, change });
    rows = rows.map((row) => (row.id === id ? { ...row, ...change } : row));
    return HttpResponse.json(rows.filter((row) => row.id === id));
  }),
  http.post(`${rest}/reviews`, async ({ request }) => {
    const review = (await request.json()) as Review;
    inserted.push(review);
    return HttpResponse.json([{ id: review.id }], { status: 201 });
  }),
  http.delete(`${rest}/reviews`, () => new HttpResponse(null, { status: 204 })),
  http.post(`${rest}/rpc/reorder_reviews`, async ({ request }) => {
    const { ids } = (await request.json()) as { ids: string[] };
    orders.push(ids);
    await delay(50);
    rows = rows.map((row) => ({ ...row, display_order: ids.indexOf(row.id) + 1 }));
    return new HttpResponse(null, { status: 204 });
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  inserted.length = 0;
  orders.length = 0;
  changes.length = 0;
  deleteDraft(draftName("owner", "reviews"));
  rows = ["Ana", "Rui", "Luísa"].map((client_name, n) => ({
    id: client_name.toLowerCase(),
    client_name,
    location: null,
    message: "Obrigada.",
    image_url: null,
    is_active: true,
    display_order: n + 1,
    created_at: "2026-01-01T00:00:00Z",
  }));
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

async function open() {
  const user = userEvent.setup();
  const toasts = collectToasts();
  const { queryClient } = renderApp(<ReviewsPage />, { owner: testOwner(), auth: ownerAuth });
  await screen.findByText("Ana");
  return { user, toasts, queryClient };
}

const names = () =>
  screen
    .getAllByRole("button", { name: /^Reorder / })
    .map((grip) => grip.getAttribute("aria-label")!.replace("Reorder ", ""));

const row = (name: string) =>
  within(screen.getByRole("button", { name: `Reorder ${name}` }).closest("li")!);

it("a button moves a review immediately with one request, the move is announced, and the focus stays", async () => {
  const { user, toasts } = await open();
  const down = row("Ana").getByRole("button", { name: "Move down" });
  await user.click(down);
  expect(names()).toEqual(["Rui", "Ana", "Luísa"]);
  expect(screen.getByText("Ana: position 2 of 3")).toHaveAttribute("role", "status");
  expect(down).toHaveFocus();
  await waitFor(() =>
    expect(toasts).toMatchObject([{ title: "Review order updated successfully" }]),
  );
  expect(orders).toEqual([["rui", "ana", "luísa"]]);
  expect(names()).toEqual(["Rui", "Ana", "Luísa"]);
});

it("disables the buttons at the ends without losing their focus", async () => {
  const { user } = await open();
  const up = row("Ana").getByRole("button", { name: "Move up" });
  expect(up).toHaveAttribute("aria-disabled", "true");
  await user.click(up);
  expect(names()).toEqual(["Ana", "Rui", "Luísa"]);
  expect(orders).toEqual([]);
});

it("saves the last order of several quick moves, and shows one toast", async () => {
  const { user, toasts } = await open();
  let bothPressed = () => {};
  const pressed = new Promise<void>((done) => (bothPressed = done));
  server.use(http.post(`${rest}/rpc/reorder_reviews`, () => pressed)); // later requests get the usual response
  const down = row("Ana").getByRole("button", { name: "Move down" });
  await user.click(down);
  await user.click(down);
  bothPressed();
  expect(names()).toEqual(["Rui", "Luísa", "Ana"]);
  await waitFor(() => expect(toasts).toHaveLength(1));
  expect(orders.at(-1)).toEqual(["rui", "luísa", "ana"]);
  expect(names()).toEqual(["Rui", "Luísa", "Ana"]);
});

it("restores the order and shows a toast when it cannot be saved", async () => {
  const { user, toasts } = await open();
  server.use(
    http.post(`${rest}/rpc/reorder_reviews`, async () => {
      await delay(50);
      return HttpResponse.json({ message: "no" }, { status: 500 });
    }),
  );
  await user.click(row("Luísa").getByRole("button", { name: "Move up" }));
  expect(names()).toEqual(["Ana", "Luísa", "Rui"]);
  await waitFor(() =>
    expect(toasts).toMatchObject([{ title: "Failed to update review order", destructive: true }]),
  );
  await waitFor(() => expect(names()).toEqual(["Ana", "Rui", "Luísa"]));
});

it("A-rev-1: adds a review once name and message are filled", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Add Review" }));
  const dialog = within(screen.getByRole("dialog"));
  const add = dialog.getByRole("button", { name: "Add Review" });
  expect(add).toBeDisabled();
  await user.type(dialog.getByRole("textbox", { name: "Client name" }), "Zé");
  await user.type(dialog.getByRole("textbox", { name: "Message" }), "   ");
  expect(add).toBeDisabled();
  await user.type(dialog.getByRole("textbox", { name: "Message" }), "Muito bom.");
  await waitFor(() => expect(add).toBeEnabled());
  await user.click(add);
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Review added successfully" }]));
  expect(inserted).toEqual([
    {
      id: expect.any(String),
      client_name: "Zé",
      location: null,
      message: "Muito bom.",
      message_pt: null,
      image_url: null,
      is_active: true,
    },
  ]);
});

it("keeps the texts and shows a toast when adding fails", async () => {
  const { user, toasts } = await open();
  server.use(
    http.post(`${rest}/reviews`, () => HttpResponse.json({ message: "no" }, { status: 500 })),
  );
  await user.click(screen.getByRole("button", { name: "Add Review" }));
  const dialog = within(screen.getByRole("dialog"));
  await user.type(dialog.getByRole("textbox", { name: "Client name" }), "Zé");
  await user.type(dialog.getByRole("textbox", { name: "Message" }), "Muito bom.");
  await user.click(dialog.getByRole("button", { name: "Add Review" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Failed to add review" }]));
  expect(dialog.getByRole("textbox", { name: "Message" })).toHaveValue("Muito bom.");
});

it("A-prod-9: a new review whose response was lost is stored once, with what was typed last", async () => {
  server.use(
    http.post(`${rest}/reviews`, async ({ request }) => {
      const review = (await request.json()) as Review;
      if (rows.some(({ id }) => id === review.id)) return HttpResponse.json([], { status: 201 });
      rows = [...rows, { ...review, display_order: 4 }];
      return HttpResponse.error();
    }),
    http.get(`${rest}/reviews`, ({ request }) => {
      const id = new URL(request.url).searchParams.get("id");
      return HttpResponse.json(id ? rows.find((review) => id === `eq.${review.id}`) : rows);
    }),
  );
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Add Review" }));
  const dialog = within(screen.getByRole("dialog"));
  await user.type(dialog.getByRole("textbox", { name: "Client name" }), "Zé");
  await user.type(dialog.getByRole("textbox", { name: "Message" }), "Muito bom.");
  await user.click(dialog.getByRole("button", { name: "Add Review" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Failed to add review" }]));
  await user.type(dialog.getByRole("textbox", { name: "Message" }), " Obrigada!");
  await user.click(dialog.getByRole("button", { name: "Add Review" }));
  await waitFor(() => expect(toasts[1]).toMatchObject({ title: "Review added successfully" }));
  expect(rows).toHaveLength(4);
  expect(rows[3]).toMatchObject({ client_name: "Zé", message: "Muito bom. Obrigada!" });
  expect(changes.map(({ change }) => change)).toEqual([{ message: "Muito bom. Obrigada!" }]);
});

it("A-prod-10: deletes a review after confirmation", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Delete review by Rui" }));
  expect(screen.getByRole("alertdialog")).toHaveAccessibleDescription(
    "Are you sure you want to delete this review? This action cannot be undone.",
  );
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Review deleted successfully" }]));
});

it("removes a deleted review from the page before the list is loaded again, so that nothing requests its picture", async () => {
  const { user, toasts } = await open();
  let load = () => {};
  const loaded = new Promise<void>((done) => (load = done));
  server.use(
    http.get(`${rest}/reviews`, async () => {
      await loaded;
      return HttpResponse.json([]);
    }),
  );
  await user.click(screen.getByRole("button", { name: "Delete review by Rui" }));
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() =>
    // Also behind the dialog.
    expect(screen.queryAllByRole("button", { name: "Delete review by Rui", hidden: true })).toEqual(
      [],
    ),
  );
  expect(toasts).toEqual([]);
  load();
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Review deleted successfully" }]));
});

it("A-rev-5: saves texts and picture of a review, but not its visibility", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Edit review by Rui" }));
  const dialog = within(screen.getByRole("dialog", { name: "Edit Review" }));
  await user.type(dialog.getByRole("textbox", { name: "Location optional" }), "Faro");
  await user.click(dialog.getByRole("button", { name: "Save changes" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Review updated successfully" }]));
  expect(changes).toEqual([
    {
      id: "rui",
      change: {
        client_name: "Rui",
        location: "Faro",
        message: "Obrigada.",
        message_pt: null,
        image_url: null,
      },
    },
  ]);
  expect(await screen.findByText("Faro")).toBeInTheDocument();
});

it("A-rev-5: keeps the texts and shows a toast when saving fails", async () => {
  const { user, toasts } = await open();
  server.use(
    http.patch(`${rest}/reviews`, () => HttpResponse.json({ message: "no" }, { status: 500 })),
  );
  await user.click(screen.getByRole("button", { name: "Edit review by Rui" }));
  await user.type(screen.getByRole("textbox", { name: "Message" }), "!");
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Failed to update review" }]));
  expect(screen.getByRole("textbox", { name: "Message" })).toHaveValue("Obrigada.!");
});

it("toggles the visibility of a review immediately, and restores it when that fails", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Hide review by Rui" }));
  expect(row("Rui").getByText("Hidden")).toBeInTheDocument();
  await waitFor(() => expect(toasts).toHaveLength(1));
  expect(changes).toEqual([{ id: "rui", change: { is_active: false } }]);
  const show = await screen.findByRole("button", { name: "Show review by Rui" });
  server.use(
    http.patch(`${rest}/reviews`, () => HttpResponse.json({ message: "no" }, { status: 500 })),
  );
  await user.click(show);
  await waitFor(() => expect(toasts.at(-1)).toMatchObject({ title: "Failed to update review" }));
  await waitFor(() => expect(row("Rui").getByText("Hidden")).toBeInTheDocument());
});

it("deletes a review after the change of its visibility is saved", async () => {
  const requests: string[] = [];
  let save = () => {};
  const saved = new Promise<void>((done) => (save = done));
  server.use(
    http.patch(`${rest}/reviews`, async () => {
      await saved;
      requests.push("change");
    }),
    http.delete(`${rest}/reviews`, () => void requests.push("delete")),
  );
  const { user, toasts, queryClient } = await open();
  await user.click(screen.getByRole("button", { name: "Hide review by Rui" }));
  await user.click(screen.getByRole("button", { name: "Delete review by Rui" }));
  await user.click(within(screen.getByRole("alertdialog")).getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(queryClient.isMutating()).toBe(2));
  save();
  await waitFor(() => expect(requests).toEqual(["change", "delete"]));
  await waitFor(() =>
    expect(toasts).toContainEqual(
      expect.objectContaining({ title: "Review deleted successfully" }),
    ),
  );
});

/** Renders the page and the toast area, without the other parts of the admin area. */
async function openWithToasts() {
  const user = userEvent.setup();
  renderApp(
    <>
      <ReviewsPage />
      <Toaster />
    </>,
    { owner: testOwner(), auth: ownerAuth },
  );
  await screen.findByText("Ana");
  const undo = async () => {
    const button = await screen.findByRole("button", { name: "Undo" });
    await user.click(button);
    // Wait until the toast is gone. Otherwise its button could be taken for that of the next toast.
    await waitFor(() => expect(button).not.toBeInTheDocument());
  };
  return { user, undo };
}

it("A-history-undo: the toast's Undo restores the order before several quick moves", async () => {
  const { user, undo } = await openWithToasts();
  let bothPressed = () => {};
  const pressed = new Promise<void>((done) => (bothPressed = done));
  server.use(http.post(`${rest}/rpc/reorder_reviews`, () => pressed));
  const down = row("Ana").getByRole("button", { name: "Move down" });
  await user.click(down);
  await user.click(down);
  bothPressed();
  expect(await screen.findByText("Review order updated successfully")).toBeInTheDocument();
  expect(names()).toEqual(["Rui", "Luísa", "Ana"]);
  await undo();
  expect(await screen.findByText("The change is undone")).toBeInTheDocument();
  expect(orders.at(-1)).toEqual(["ana", "rui", "luísa"]);
  expect(names()).toEqual(["Ana", "Rui", "Luísa"]);
});

it("A-history-undo: an order that was changed again is not undone, and a toast says so", async () => {
  const { user, undo } = await openWithToasts();
  await user.click(row("Ana").getByRole("button", { name: "Move down" }));
  await screen.findByText("Review order updated successfully");
  const moved = orders.length;
  rows = rows.map((one) => ({ ...one, display_order: one.id === "luísa" ? 0 : one.display_order }));
  await undo();
  expect(
    await screen.findByText("It has been changed in the meantime. Please look at it again."),
  ).toBeInTheDocument();
  expect(orders).toHaveLength(moved);
  expect(names()).toEqual(["Luísa", "Rui", "Ana"]);
});

it("A-history-undo: the toast's Undo shows a hidden review again, and a failure is shown", async () => {
  const { user, undo } = await openWithToasts();
  await user.click(screen.getByRole("button", { name: "Hide review by Rui" }));
  await screen.findByText("Review updated successfully");
  server.use(
    http.patch(`${rest}/reviews`, () => HttpResponse.json({ message: "no" }, { status: 500 }), {
      once: true,
    }),
  );
  await undo();
  expect(await screen.findByText("The change could not be undone.")).toBeInTheDocument();
  expect(row("Rui").getByText("Hidden")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Show review by Rui" }));
  await waitFor(() => expect(row("Rui").queryByText("Hidden")).toBeNull());
  await undo();
  expect(await screen.findByText("The change is undone")).toBeInTheDocument();
  expect(row("Rui").getByText("Hidden")).toBeInTheDocument();
  expect(changes.at(-1)).toEqual({ id: "rui", change: { is_active: false } });
});

it("reports a conflict, and overwrites only after confirmation", async () => {
  const { user, toasts } = await open();
  const tries: string[] = [];
  server.use(
    http.patch(`${rest}/reviews`, ({ request }) => {
      const at = new URL(request.url).searchParams.get("updated_at")!;
      tries.push(at);
      return HttpResponse.json(at === "eq.2026-01-05T00:00:00Z" ? [rows[0]] : []);
    }),
  );
  await user.click(screen.getByRole("button", { name: "Edit review by Ana" }));
  rows = rows.map((one) =>
    one.id === "ana"
      ? { ...one, message: "Muito obrigada.", updated_at: "2026-01-05T00:00:00Z" }
      : one,
  );
  await user.type(screen.getByRole("textbox", { name: "Message" }), "!");
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  const question = await screen.findByRole("alertdialog", { name: "There is a newer version" });
  expect(within(question).getByText("Muito obrigada.")).toBeInTheDocument();
  expect(toasts).toEqual([]);
  await user.click(within(question).getByRole("button", { name: "Save mine anyway" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Review updated successfully" }]));
  expect(tries).toEqual(["is.null", "eq.2026-01-05T00:00:00Z"]);
});

it.each([
  ["Approve", "Review approved"],
  ["Decline", "Review declined"],
])("AM-review-2: %s takes a review from those that wait, and says so", async (button, said) => {
  waiting = [{ message_id: "m1" }];
  const { user, toasts } = await open();
  const list = await screen.findByRole("region", { name: "Waiting for approval" });
  await user.click(await within(list).findByRole("button", { name: button }));
  await waitFor(() => expect(list).not.toBeInTheDocument());
  await waitFor(() => expect(toasts).toContainEqual(expect.objectContaining({ title: said })));
});
