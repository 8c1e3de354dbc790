import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { CommissionPanel } from "@/features/admin-messages/components/commission-panel";
import type { CommissionOffer, CommissionState, ContactSubmission } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const message: ContactSubmission = {
  id: "11111111-1111-4111-8111-111111111111",
  name: "Inês",
  email: "ines@exemplo.pt",
  message: "Bom dia!",
  reason: "commission",
  status: "read",
  created_at: "2026-11-12T09:41:00Z",
};
const offer: CommissionOffer = {
  id: "o1",
  text: "A portrait",
  price: "300 €",
  deposit: "100 €",
  promised_on: "2027-02-01",
  expires_on: "",
  terms: "Half in advance.",
  created_at: "2026-11-13T09:41:00Z",
  state: "open",
  answered_at: null,
  answered_name: "",
};
let state: CommissionState;
let refusal: string | undefined;
const sent: Record<string, string>[] = [];

/** The state with the stages that may follow its stage. */
const withNext = (): CommissionState => ({
  ...state,
  next: (["offer", "accepted", "declined"] as const).filter((stage) => stage !== state.stage),
});

const server = setupServer(
  http.post(`${testBoot.apiUrl}/functions/v1/commission-review`, () =>
    HttpResponse.json({ state: "", text: "", can_ask: false }),
  ),
  http.post(`${testBoot.apiUrl}/functions/v1/commission`, async ({ request }) => {
    const body = (await request.json()) as Record<string, string>;
    if (!body.action) return HttpResponse.json(withNext());
    sent.push(body);
    if (refusal) return HttpResponse.json({ success: false, error: refusal }, { status: 409 });
    if (body.action === "stage")
      state = { ...state, stage: body.stage as CommissionState["stage"], stage_at: "2026-11-14" };
    if (body.action === "promise") state = { ...state, promised_on: body.promised_on! };
    if (body.action === "offer") state = { ...state, stage: "offer", offers: [offer] };
    if (body.action === "withdraw")
      state = { ...state, offers: [{ ...offer, state: "withdrawn" }] };
    return HttpResponse.json(withNext());
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  sent.length = 0;
  refusal = undefined;
  state = {
    stage: "enquiry",
    stage_at: null,
    promised_on: "",
    next: [],
    offers: [],
    terms: "Half in advance.",
    place: 0,
    slots: 0,
    taken: 0,
  };
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

async function show(change: Partial<CommissionState> = {}, shown = message) {
  state = { ...state, ...change };
  const toasts = collectToasts();
  renderApp(<CommissionPanel message={shown} />, { owner: testOwner(), auth: ownerAuth });
  await screen.findByText("Commission");
  return { user: userEvent.setup(), toasts };
}

it("AM-commission-1: the stage can be changed to those that may follow, and an error of the server is shown", async () => {
  const { user, toasts } = await show({ place: 2 });
  const stage = screen.getByRole("combobox", { name: "Stage" });
  expect(
    within(stage)
      .getAllByRole("option")
      .map((option) => option.textContent),
  ).toEqual(["Nothing decided", "Enquiry", "Offer made", "Accepted", "Declined"]);
  expect(screen.getByText("Place 2 on the waiting list")).toBeVisible();
  await user.selectOptions(stage, "accepted");
  await waitFor(() => expect(stage).toHaveValue("accepted"));
  expect(sent).toEqual([
    { action: "stage", stage: "accepted", from: "enquiry", message_id: message.id },
  ]);
  refusal = "The stage of the commission has changed meanwhile";
  await user.selectOptions(stage, "declined");
  await waitFor(() => expect(toasts[0]?.description).toBe(refusal));
  await waitFor(() => expect(stage).toHaveValue("accepted"));
});

it("AM-commission-1: an accepted commission has a promised date", async () => {
  const { user } = await show({ stage: "in_progress", stage_at: "2026-11-14" });
  const day = screen.getByLabelText("Promised date");
  expect(screen.queryByRole("button", { name: "Save date" })).toBeNull();
  await user.type(day, "2027-03-01");
  await user.click(screen.getByRole("button", { name: "Save date" }));
  await waitFor(() =>
    expect(sent).toEqual([
      { action: "promise", promised_on: "2027-03-01", message_id: message.id },
    ]),
  );
});

it("AM-commission-2: the form of an unfinished offer is open again with its text", async () => {
  const shown = { ...message, id: "22222222-2222-4222-8222-222222222222" };
  const panel = <CommissionPanel message={shown} />;
  const { unmount } = renderApp(panel, { owner: testOwner(), auth: ownerAuth });
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Make an offer" }));
  await user.type(screen.getByLabelText(/^What you offer/), "A portrait");
  unmount();
  renderApp(panel, { owner: testOwner(), auth: ownerAuth });
  expect(await screen.findByLabelText(/^What you offer/)).toHaveValue("A portrait");
});

it("AM-commission-2: the form of an offer whose text was removed stays closed", async () => {
  const shown = { ...message, id: "33333333-3333-4333-8333-333333333333" };
  const panel = <CommissionPanel message={shown} />;
  const { unmount } = renderApp(panel, { owner: testOwner(), auth: ownerAuth });
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Make an offer" }));
  const text = screen.getByLabelText(/^What you offer/);
  await user.type(text, "A portrait");
  await user.clear(text);
  unmount();
  renderApp(panel, { owner: testOwner(), auth: ownerAuth });
  const open = await screen.findByRole("button", { name: "Make an offer" });
  expect(open).toHaveAttribute("aria-expanded", "false");
  expect(screen.queryByLabelText(/^What you offer/)).toBeNull();
});

it("AM-commission-2: an offer needs a text and a price, shows its terms, and can be withdrawn", async () => {
  const { user, toasts } = await show();
  const open = screen.getByRole("button", { name: "Make an offer" });
  expect(open).toHaveAttribute("aria-expanded", "false");
  await user.click(open);
  expect(screen.getByText("Half in advance.")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Send offer" }));
  expect(screen.getAllByText("Please fill this in.")).toHaveLength(2);
  expect(sent).toEqual([]);
  await user.type(screen.getByLabelText(/^What you offer/), "A portrait");
  await user.type(screen.getByLabelText(/^Price/), "300 €");
  await user.click(screen.getByRole("button", { name: "Send offer" }));
  expect(await screen.findByText("Waits for an answer")).toBeVisible();
  expect(toasts[0]?.title).toBe("Offer stored");
  const { id, ...rest } = sent[0]!;
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(rest).toEqual({
    action: "offer",
    text: "A portrait",
    price: "300 €",
    deposit: "",
    promised_on: "",
    expires_on: "",
    message_id: message.id,
  });
  expect(screen.getByText("300 € · deposit 100 € · finished by 1 February 2027")).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Withdraw offer" }));
  expect(await screen.findByText("Withdrawn")).toBeVisible();
  expect(screen.queryByRole("button", { name: "Withdraw offer" })).toBeNull();
});

it("AM-commission-3: a note on the progress can be sent while the commission is accepted", async () => {
  const { user, toasts } = await show({ stage: "accepted", stage_at: "2026-11-14" });
  expect(screen.queryByRole("button", { name: "Make an offer" })).toBeNull();
  await user.click(screen.getByRole("button", { name: "Write about the progress" }));
  await user.click(screen.getByRole("button", { name: "Send note" }));
  expect(screen.getByText("Please write something first.")).toBeVisible();
  await user.type(screen.getByLabelText("Progress"), "The first layer is dry.");
  await user.click(screen.getByRole("button", { name: "Send note" }));
  await waitFor(() => expect(screen.queryByLabelText("Progress")).toBeNull());
  expect(toasts[0]?.title).toBe("Note stored");
  expect(sent).toMatchObject([{ action: "progress", text: "The first layer is dry." }]);
});

it("AM-commission-4: says how many slots are taken, and when there are too few", async () => {
  await show({ slots: 2, taken: 2 });
  expect(
    screen.getByText(
      "2 of 2 slots are taken. No slot is free. An offer can be accepted all the same.",
    ),
  ).toBeVisible();
});

it("AM-commission-4: says that more commissions were accepted than there are slots", async () => {
  await show({ slots: 2, taken: 3, stage: "accepted", stage_at: "2026-11-14" });
  expect(
    screen.getByText(
      "3 of 2 slots are taken. More commissions were accepted than there are slots.",
    ),
  ).toBeVisible();
});

it("AM-commission-1: the panel is closed for a message with another reason", async () => {
  await show({}, { ...message, reason: "purchase" });
  expect(screen.getByRole("group")).not.toHaveAttribute("open");
});
