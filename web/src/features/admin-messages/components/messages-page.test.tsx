import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { MessagesPage } from "@/features/admin-messages/components/messages-page";
import type { ContactSubmission } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const table = `${testBoot.apiUrl}/rest/v1/contact_submissions`;
let rows: ContactSubmission[];
const changes: unknown[] = [];

const server = setupServer(
  http.get(table, () => HttpResponse.json(rows)),
  http.patch(table, async ({ request }) => {
    const change = (await request.json()) as Partial<ContactSubmission>;
    const id = new URL(request.url).searchParams.get("id")?.replace("eq.", "");
    changes.push({ id, ...change });
    rows = rows.map((row) => (row.id === id ? { ...row, ...change } : row));
    return HttpResponse.json({ id });
  }),
  http.delete(table, ({ request }) => {
    const id = new URL(request.url).searchParams.get("id")?.replace("eq.", "");
    rows = rows.filter((row) => row.id !== id);
    return new HttpResponse(null, { status: 204 });
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  changes.length = 0;
  rows = [
    {
      id: "m1",
      name: "Inês",
      email: "ines@exemplo.pt",
      message: "Bom dia!\nTemos uma parede.",
      reason: "commission",
      status: "new",
      created_at: "2026-11-12T09:41:00Z",
    },
    {
      id: "m2",
      name: "Marta",
      email: "marta@exemplo.pt",
      message: "O Limoeiro ainda está disponível?",
      reason: "purchase",
      status: "read",
      created_at: "2026-11-08T11:40:00Z",
    },
  ];
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

async function open(path = "/admin/contact-messages") {
  const user = userEvent.setup();
  const toasts = collectToasts();
  renderApp(<MessagesPage />, { owner: testOwner(), auth: ownerAuth, path });
  await screen.findByRole("button", { name: /Inês/ });
  return { user, toasts };
}

const item = (name: RegExp) => screen.getByRole("button", { name });

it("marks a message read when it is opened, and not before", async () => {
  const { user } = await open();
  expect(screen.getByText("Choose a message to read it.")).toBeInTheDocument();
  expect(changes).toEqual([]);
  await user.click(item(/Inês/));
  expect(screen.getByRole("heading", { name: "Inês" })).toBeInTheDocument();
  await waitFor(() => expect(within(item(/Inês/)).getByText("Read")).toBeInTheDocument());
  await waitFor(() => expect(changes).toEqual([{ id: "m1", status: "read" }]));
  await user.click(item(/Marta/));
  expect(changes).toHaveLength(1);
});

it("opens the message that the address names", async () => {
  await open("/admin/contact-messages?message=m2");
  expect(screen.getByRole("heading", { name: "Marta" })).toBeInTheDocument();
});

it("lets the menu on the badge correct the status, also back to New", async () => {
  const { user } = await open();
  await user.click(item(/Inês/));
  await user.click(await screen.findByRole("button", { name: "Change status: Read" }));
  expect(screen.getByRole("menuitemradio", { name: "Read" })).toBeChecked();
  await user.click(screen.getByRole("menuitemradio", { name: "New" }));
  await waitFor(() =>
    expect(changes).toEqual([
      { id: "m1", status: "read" },
      { id: "m1", status: "new" },
    ]),
  );
  expect(within(item(/Inês/)).getByText("New")).toBeInTheDocument();
});

it("marks a message replied by its reply link", async () => {
  const { user } = await open("/admin/contact-messages?message=m2");
  const reply = screen.getByRole("link", { name: "Reply" });
  expect(reply).toHaveAttribute(
    "href",
    "mailto:marta@exemplo.pt?subject=Your%20message%20to%20Alvor",
  );
  reply.addEventListener("click", (event) => event.preventDefault());
  await user.click(reply);
  await waitFor(() => expect(changes).toEqual([{ id: "m2", status: "replied" }]));
});

it("takes a status back that could not be stored", async () => {
  const { user, toasts } = await open("/admin/contact-messages?message=m2");
  server.use(http.patch(table, () => HttpResponse.json({ message: "asleep" }, { status: 500 })));
  await user.click(screen.getByRole("button", { name: "Change status: Read" }));
  await user.click(screen.getByRole("menuitemradio", { name: "Replied" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Error", description: "asleep" }]));
  expect(within(item(/Marta/)).getByText("Read")).toBeInTheDocument();
});

it("deletes after the question and closes the message", async () => {
  const { user, toasts } = await open("/admin/contact-messages?message=m2");
  await user.click(screen.getByRole("button", { name: "Delete" }));
  expect(screen.getByRole("alertdialog")).toHaveAccessibleDescription(
    "Are you sure you want to delete this message? This action cannot be undone.",
  );
  await user.click(screen.getAllByRole("button", { name: "Delete" }).at(-1)!);
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Message deleted" }]));
  expect(screen.queryByRole("button", { name: /Marta/ })).not.toBeInTheDocument();
  expect(screen.getByText("Choose a message to read it.")).toBeInTheDocument();
});

it("tells a failed deletion", async () => {
  const { user, toasts } = await open("/admin/contact-messages?message=m2");
  server.use(http.delete(table, () => HttpResponse.json({ message: "no" }, { status: 500 })));
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await user.click(screen.getAllByRole("button", { name: "Delete" }).at(-1)!);
  await waitFor(() =>
    expect(toasts).toMatchObject([{ description: "There was an error deleting the message." }]),
  );
});

it("opens over the whole screen on a phone and closes by All messages", async () => {
  vi.spyOn(window, "matchMedia").mockImplementation(
    (query) =>
      ({
        matches: query.includes("width < 48rem"),
        addEventListener: () => undefined,
        removeEventListener: () => undefined,
      }) as unknown as MediaQueryList,
  );
  const { user } = await open();
  await user.click(item(/Marta/));
  expect(screen.getByRole("dialog", { name: "Marta" })).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "All messages" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
});
