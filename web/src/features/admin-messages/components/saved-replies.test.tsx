import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { SavedReplies } from "@/features/admin-messages/components/saved-replies";
import type { SavedReply } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const table = `${testBoot.apiUrl}/rest/v1/saved_replies`;
const rows = ["Maio", "Junho"].map((title, n) => ({
  id: `${n}`,
  title,
  text_en: "In spring.",
  text_pt: "Na primavera.",
  position: n,
}));
let answer = () => {};

const server = setupServer(
  http.get(table, () => HttpResponse.json(rows)),
  http.patch(table, async () => {
    await new Promise<void>((done) => (answer = done));
    return HttpResponse.json(rows[0]);
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

it("AM-saved-1: a reply that is saved late does not close the form of another one", async () => {
  const user = userEvent.setup();
  const toasts = collectToasts();
  renderApp(<SavedReplies />, { owner: testOwner(), auth: ownerAuth });
  await user.click(await screen.findByRole("button", { name: /^Edit.*Maio/ }));
  await user.type(screen.getByRole("textbox", { name: "Reply" }), " Or later.");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await user.click(screen.getByRole("button", { name: /^Edit.*Junho/ }));
  await user.type(screen.getByRole("textbox", { name: "Reply" }), " Not yet.");
  answer();
  await waitFor(() => expect(toasts).toHaveLength(1));
  expect(screen.getByRole("textbox", { name: "Reply" })).toHaveValue("In spring. Not yet.");
});

it("AM-saved-1: a saved reply whose response was lost is stored once, with what was typed last", async () => {
  const stored: SavedReply[] = [];
  const changes: unknown[] = [];
  server.use(
    http.post(table, async ({ request }) => {
      const reply = (await request.json()) as SavedReply;
      if (stored.some(({ id }) => id === reply.id)) return HttpResponse.json([], { status: 201 });
      stored.push(reply);
      return HttpResponse.error();
    }),
    http.get(table, ({ request }) =>
      HttpResponse.json(new URL(request.url).searchParams.has("id") ? stored[0] : stored),
    ),
    http.patch(table, async ({ request }) => {
      changes.push(await request.json());
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const user = userEvent.setup();
  const toasts = collectToasts();
  renderApp(<SavedReplies />, { owner: testOwner(), auth: ownerAuth });
  await user.click(await screen.findByRole("button", { name: "Add a saved reply" }));
  await user.type(screen.getByRole("textbox", { name: "Title" }), "Julho");
  await user.type(screen.getByRole("textbox", { name: "Reply" }), "In summer.");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(toasts).toMatchObject([{ destructive: true }]));
  await user.type(screen.getByRole("textbox", { name: "Reply" }), " Or later.");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(toasts[1]).toMatchObject({ title: "Saved reply stored" }));
  expect(stored).toHaveLength(1);
  expect(changes).toEqual([{ text_en: "In summer. Or later." }]);
});
