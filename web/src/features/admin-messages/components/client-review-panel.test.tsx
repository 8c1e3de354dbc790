import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { ClientReviewPanel } from "@/features/admin-messages/components/client-review-panel";
import type { ClientReview } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

let review: ClientReview;
let refusal: string | undefined;
let afterWithdrawal: ClientReview["state"];
const sent: Record<string, unknown>[] = [];

const server = setupServer(
  http.post(`${testBoot.apiUrl}/functions/v1/commission-review`, async ({ request }) => {
    const { action, ...body } = (await request.json()) as Record<string, unknown>;
    if (!action) return HttpResponse.json(review);
    sent.push({ action, ...body });
    if (refusal) return HttpResponse.json({ success: false, error: refusal }, { status: 409 });
    const at = "2026-11-14T10:00:00Z";
    if (action === "ask") review = { ...review, state: "asked", asked_at: at, can_ask: false };
    if (action === "withdraw") review = { ...review, state: afterWithdrawal };
    if (action === "decline") review = { ...review, state: "declined" };
    if (action === "approve") review = { ...review, state: "approved", text: "", decided_at: at };
    return HttpResponse.json(review);
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  sent.length = 0;
  refusal = undefined;
  afterWithdrawal = "withdrawn";
  review = {
    state: "",
    can_ask: true,
    ask_again_at: null,
    asked_at: null,
    name: "",
    place: "",
    text: "",
    picture: null,
    written_at: null,
    decided_at: null,
    review_id: null,
  };
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

const written = {
  state: "waiting",
  can_ask: false,
  asked_at: "2026-11-12T10:00:00Z",
  name: "Inês",
  place: "Faro",
  text: "<b>Lovely</b>",
  written_at: "2026-11-13T10:00:00Z",
} as const;

async function show(change: Partial<ClientReview> = {}) {
  review = { ...review, ...change };
  const toasts = collectToasts();
  renderApp(<ClientReviewPanel messageId="m1" finished />, {
    owner: testOwner(),
    auth: ownerAuth,
  });
  return { user: userEvent.setup(), toasts, panel: await screen.findByRole("region") };
}

it("AM-review-1: a review is requested, and the request withdrawn", async () => {
  const { user, toasts, panel } = await show();
  await user.click(within(panel).getByRole("button", { name: "Ask for a review" }));
  expect(await within(panel).findByText(/Nothing is written yet/)).toBeVisible();
  expect(within(panel).queryByRole("button", { name: /^Ask/ })).toBeNull();
  await waitFor(() =>
    expect(toasts).toContainEqual(expect.objectContaining({ title: "Request stored" })),
  );
  await user.click(within(panel).getByRole("button", { name: "Withdraw the request" }));
  expect(await within(panel).findByText(/no longer ask/)).toBeVisible();
  expect(sent).toEqual([
    { action: "ask", message_id: "m1" },
    { action: "withdraw", message_id: "m1" },
  ]);
});

it("AM-review-1: it says when a review can be requested again, and shows an error of the server", async () => {
  const { user, toasts, panel } = await show({
    ...written,
    state: "withdrawn",
    text: "",
    ask_again_at: "2026-11-14T10:00:00Z",
    can_ask: true,
  });
  expect(panel).toHaveTextContent("You can ask again from");
  refusal = "A review was asked for within the last day";
  await user.click(within(panel).getByRole("button", { name: "Ask again" }));
  await waitFor(() =>
    expect(toasts).toContainEqual(expect.objectContaining({ description: refusal })),
  );
});

it("AM-review-2: a review that waits is approved as it is, hidden if the owner says so", async () => {
  const { user, panel } = await show(written);
  expect(panel).toHaveTextContent("<b>Lovely</b>");
  await user.click(within(panel).getByRole("checkbox", { name: "Show it on the website at once" }));
  await user.click(within(panel).getByRole("button", { name: "Approve" }));
  expect(await within(panel).findByText(/^Approved on/)).toBeVisible();
  expect(sent).toEqual([
    {
      action: "approve",
      message_id: "m1",
      name: "Inês",
      place: "Faro",
      text: "<b>Lovely</b>",
      active: false,
      written_at: "2026-11-13T10:00:00Z",
    },
  ]);
});

it("AM-review-2: a review is edited before, or declined and approved after all", async () => {
  const { user, panel } = await show(written);
  await user.click(within(panel).getByRole("button", { name: "Decline" }));
  expect(await within(panel).findByText("Declined")).toBeVisible();
  expect(within(panel).queryByRole("button", { name: "Decline" })).toBeNull();
  await user.click(within(panel).getByRole("button", { name: "Edit first" }));
  const name = within(panel).getByLabelText(/^Client name/);
  await user.clear(name);
  await user.click(within(panel).getByRole("button", { name: "Approve as edited" }));
  expect(name).toHaveAccessibleDescription("Please fill this in.");
  await user.type(name, "Inês P.");
  await user.click(within(panel).getByRole("button", { name: "Approve as edited" }));
  expect(await within(panel).findByText(/^Approved on/)).toBeVisible();
  expect(sent.map(({ action, name: sentName }) => [action, sentName])).toEqual([
    ["decline", undefined],
    ["approve", "Inês P."],
  ]);
});

it("AM-review-2: a declined review that is requested again has no buttons until the request is withdrawn", async () => {
  const { user, panel } = await show({ ...written, state: "asked" });
  expect(panel).toHaveTextContent(/^ReviewAsked again on .*Nothing new is written yet/);
  expect(within(panel).queryByRole("button", { name: "Approve" })).toBeNull();
  expect(panel).not.toHaveTextContent("Lovely");
  afterWithdrawal = "declined";
  await user.click(within(panel).getByRole("button", { name: "Withdraw the request" }));
  await user.click(await within(panel).findByRole("button", { name: "Approve" }));
  expect(await within(panel).findByText(/^Approved on/)).toBeVisible();
});

it.each(["withdrawn", "declined"] as const)(
  "AM-review-2: nothing is approved of a review without a text, or of one that is withdrawn (%s)",
  async (state) => {
    const { panel } = await show({ ...written, state, text: state === "declined" ? "" : "Lovely" });
    expect(within(panel).queryByRole("button", { name: "Approve" })).toBeNull();
  },
);
