import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { SavedReplies } from "@/features/admin-messages/components/saved-replies";
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
  http.post(table, async () => {
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
