import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { MessagesPage } from "@/features/admin-messages/components/messages-page";
import { SavedReplyMenu } from "@/features/admin-messages/components/saved-reply-menu";
import type {
  CommissionOffer,
  CommissionState,
  ContactReply,
  ContactSubmission,
  ConversationPicture,
  SavedReply,
} from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const rest = `${testBoot.apiUrl}/rest/v1`;
const functions = `${testBoot.apiUrl}/functions/v1`;
const messageId = "11111111-1111-4111-8111-111111111111";
const work = "33333333-3333-4333-8333-333333333333";
let row: ContactSubmission;
let saved: SavedReply[];
const actions: unknown[] = [];
const listed: string[] = [];
let replies: ContactReply[];
let pictures: ConversationPicture[];
let offers: CommissionOffer[];
let fetched: number;
let refused: boolean;
const moves: unknown[] = [];

const server = setupServer(
  http.get(`${rest}/contact_submissions`, ({ request }) => {
    const { searchParams } = new URL(request.url);
    if (!searchParams.has("id")) listed.push(searchParams.get("state") ?? "");
    const state = searchParams.get("state")?.replace("eq.", "") ?? row.state;
    const found = state === row.state ? [row] : [];
    return HttpResponse.json(found, { headers: { "content-range": `*/${found.length}` } });
  }),
  http.head(`${rest}/contact_submissions`, ({ request }) => {
    const state = new URL(request.url).searchParams.get("state");
    const count = state === `eq.${row.state}` ? 1 : 0;
    return new HttpResponse(null, { headers: { "content-range": `*/${count}` } });
  }),
  http.get(`${rest}/contact_replies`, () => HttpResponse.json(replies)),
  http.get(`${testBoot.apiUrl}/storage/v1/render/image/authenticated/*`, () => {
    fetched++;
    return HttpResponse.arrayBuffer(new ArrayBuffer(8), {
      headers: { "content-type": "image/png" },
    });
  }),
  http.get(`${rest}/products`, () =>
    HttpResponse.json([{ id: work, title: "Romãs", image_url: "/romas.jpg", media: {} }]),
  ),
  http.get(`${rest}/saved_replies`, () => HttpResponse.json(saved)),
  http.post(`${rest}/saved_replies`, async ({ request }) => {
    const added = (await request.json()) as Partial<SavedReply>;
    saved = [...saved, { ...saved[0]!, position: "9", ...added }];
    return HttpResponse.json([{ id: added.id }], { status: 201 });
  }),
  http.patch(`${rest}/saved_replies`, async ({ request }) => {
    const id = new URL(request.url).searchParams.get("id")?.replace("eq.", "");
    const change = (await request.json()) as Partial<SavedReply>;
    saved = saved.map((reply) => (reply.id === id ? { ...reply, ...change } : reply));
    return HttpResponse.json({ id });
  }),
  http.delete(`${rest}/saved_replies`, ({ request }) => {
    const id = new URL(request.url).searchParams.get("id")?.replace("eq.", "");
    saved = saved.filter((reply) => reply.id !== id);
    return new HttpResponse(null, { status: 204 });
  }),
  http.post(`${rest}/rpc/move_saved_reply`, async ({ request }) => {
    const args = (await request.json()) as { ids: string[]; place: string; target: string | null };
    moves.push(args);
    if (refused) return HttpResponse.json({ code: "X", message: "no" }, { status: 500 });
    const one = saved.find((reply) => reply.id === args.ids[0])!;
    const others = saved.filter((reply) => reply !== one);
    const at = others.findIndex((reply) => reply.id === args.target);
    others.splice(args.place === "after" ? at + 1 : Math.max(at, 0), 0, one);
    saved = others;
    return new HttpResponse(null, { status: 204 });
  }),
  http.post(`${functions}/commission`, () =>
    HttpResponse.json({
      stage: "enquiry",
      stage_at: null,
      promised_on: "",
      next: [],
      offers,
      terms: "",
      place: 0,
      slots: 0,
      taken: 0,
    } satisfies CommissionState),
  ),
  http.post(`${functions}/contact-reply`, async ({ request }) => {
    const body = (await request.json()) as { action?: string };
    if (body.action) actions.push(body);
    if (body.action === "done") row = { ...row, state: "done" };
    if (body.action === "reopen") row = { ...row, state: "waiting_them" };
    return HttpResponse.json({
      success: true,
      mail: true,
      links: false,
      language: "pt",
      link: null,
      pictures,
    });
  }),
  http.post(`${functions}/contact-notices`, () => HttpResponse.json({ success: true, items: [] })),
  http.post(`${functions}/contact-quarantine`, () =>
    HttpResponse.json({ success: true, items: [], total: 0, flood: 0 }),
  ),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
afterAll(() => server.close());
beforeEach(() => {
  actions.length = listed.length = fetched = 0;
  moves.length = 0;
  refused = false;
  replies = [];
  pictures = [];
  offers = [];
  row = {
    id: messageId,
    name: "Inês $& Prado",
    email: "ines@exemplo.pt",
    message: "Temos uma parede.",
    reason: "commission",
    status: "replied",
    created_at: "2026-11-12T09:41:00Z",
    artwork_id: work,
    language: "pt",
    state: "waiting_them",
    last_author: "owner",
    last_text: "Claro! Em maio.",
    last_at: "2026-11-13T09:41:00Z",
  };
  saved = [
    {
      id: "s1",
      title: "Thanks",
      text_en: "Thank you, {name}!",
      text_pt: "Obrigada, {name}!",
      position: "1",
      created_at: "2026-11-12T09:41:00Z",
    },
  ];
});

function replyRow(change: Partial<ContactReply>): ContactReply {
  return {
    id: "44444444-4444-4444-8444-444444444444",
    message_id: messageId,
    author: "owner",
    kind: "reply",
    text: "Claro! Em maio.",
    created_at: "2026-11-13T09:41:00Z",
    delivery: "none",
    delivery_at: null,
    delivery_error: null,
    ...change,
  };
}

function open(path = "/admin/contact-messages") {
  const user = userEvent.setup();
  const toasts = collectToasts();
  renderApp(<MessagesPage />, { owner: testOwner(), auth: ownerAuth, path });
  return { user, toasts };
}

it("AM-list-1: a row has the start of the last text, the language and the picture of the work", async () => {
  open();
  const item = await screen.findByRole("button", { name: /Inês/ });
  expect(item).toHaveTextContent("You: Claro! Em maio.");
  expect(item).toHaveTextContent("Commission · PT");
  expect(within(item).getByText("Portuguese")).toBeInTheDocument();
  await waitFor(() => expect(item.querySelector("img")).toHaveAttribute("src", "/romas.jpg"));
});

it("AM-list-1: a last text that is only pictures says so", async () => {
  row = { ...row, last_author: "visitor", last_text: "" };
  open();
  const item = await screen.findByRole("button", { name: /Inês/ });
  expect(item).toHaveTextContent("Pictures");
  expect(item).not.toHaveTextContent("Temos uma parede.");
});

it("AM-reply-4: pictures that are shown are not fetched again when the message changes", async () => {
  replies = [replyRow({ author: "visitor", text: "" })];
  pictures = [
    {
      id: "p1",
      reply_id: replies[0]!.id,
      position: 1,
      name: `${messageId}/a/1`,
      width: 30,
      height: 20,
      bytes: 100,
    },
  ];
  const { user } = open(`/admin/contact-messages?message=${messageId}`);
  await waitFor(() => expect(fetched).toBe(1));
  await user.click(await screen.findByRole("button", { name: "Mark as done" }));
  await user.click(await screen.findByRole("button", { name: "Not done yet" }));
  expect(await screen.findByRole("button", { name: "Mark as done" })).toBeInTheDocument();
  expect(fetched).toBe(1);
});

it("AM-state-1: buttons filter by state, with the number of conversations", async () => {
  const { user } = open();
  await screen.findByRole("button", { name: /Inês/ });
  const states = within(screen.getByRole("group", { name: "State of the conversation" }));
  await user.click(await states.findByRole("button", { name: "Waiting for them 1" }));
  expect(await screen.findByRole("button", { name: /Inês/ })).toBeInTheDocument();
  await user.click(states.getByRole("button", { name: "Unread 0" }));
  expect(await screen.findByText("No message matches.")).toBeInTheDocument();
  expect(states.getByRole("button", { name: "Unread 0" })).toHaveAttribute("aria-pressed", "true");
  expect(listed).toEqual(["", "eq.waiting_them", "eq.unread"]);
  await user.click(screen.getByRole("button", { name: "Show all messages" }));
  expect(await screen.findByRole("button", { name: /Inês/ })).toBeInTheDocument();
});

it("AM-list-3: the opened message in the URL is shown although no message matches the filter", async () => {
  const { user } = open(`/admin/contact-messages?state=unread&message=${messageId}`);
  expect(await screen.findByRole("heading", { name: row.name })).toBeInTheDocument();
  expect(screen.getByText("No message matches.")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Show all messages" }));
  expect(await screen.findByRole("button", { name: /Inês/ })).toBeInTheDocument();
  expect(screen.queryByText("No message matches.")).not.toBeInTheDocument();
});

it("AM-state-2: a conversation is marked as done, and the mark removed", async () => {
  const { user } = open(`/admin/contact-messages?message=${messageId}`);
  await user.click(await screen.findByRole("button", { name: "Mark as done" }));
  await user.click(await screen.findByRole("button", { name: "Not done yet" }));
  expect(await screen.findByRole("button", { name: "Mark as done" })).toBeInTheDocument();
  expect(actions).toEqual([
    { action: "done", message_id: messageId },
    { action: "reopen", message_id: messageId },
  ]);
});

it("AM-saved-2: a saved reply is inserted in the language of the message, after what is written", async () => {
  const { user } = open(`/admin/contact-messages?message=${messageId}`);
  const field = await screen.findByRole("textbox", { name: /Reply to Inês/ });
  const insert = async () => {
    await user.click(
      screen
        .getAllByRole("button", { name: "Saved replies" })
        .find((button) => button.hasAttribute("aria-haspopup"))!,
    );
    await user.click(await screen.findByRole("menuitem", { name: "Thanks" }));
  };
  await insert();
  expect(field).toHaveValue("Obrigada, Inês $& Prado!");
  await waitFor(() => expect(field).toHaveFocus());
  await insert();
  expect(field).toHaveValue("Obrigada, Inês $& Prado!\n\nObrigada, Inês $& Prado!");
});

it("AM-saved-2: the menu leads to the page of the saved replies, also from the board", async () => {
  const user = userEvent.setup();
  renderApp(
    <SavedReplyMenu
      language="pt"
      name="Inês"
      onInsert={() => undefined}
      onInserted={() => undefined}
    />,
    {
      owner: testOwner(),
      auth: ownerAuth,
      path: `/admin/contact-messages/board?message=${messageId}`,
    },
  );
  await user.click(screen.getByRole("button", { name: "Saved replies" }));
  expect(await screen.findByRole("menuitem", { name: "Edit saved replies" })).toHaveAttribute(
    "href",
    "/admin/contact-messages?box=replies",
  );
});

it("AM-saved-1: saved replies are added, changed, deleted and brought back", async () => {
  const { user, toasts } = open("/admin/contact-messages?box=replies");
  await screen.findByRole("heading", { name: "Thanks" });
  await user.click(screen.getByRole("button", { name: "Add a saved reply" }));
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(screen.getByText("Please give it a title of at most 300 characters.")).toBeVisible();
  await user.type(screen.getByRole("textbox", { name: "Title" }), " Later ");
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(screen.getByText("Please write the text in one language at least.")).toBeVisible();
  await user.type(screen.getByRole("textbox", { name: "Reply in Portuguese" }), "Mais tarde.");
  const english = screen.getByRole("textbox", { name: "Reply" });
  fireEvent.change(english, { target: { value: "a".repeat(5001) } });
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(screen.getByText("A reply has at most 5000 characters.")).toBeVisible();
  expect(english).toBeInvalid();
  fireEvent.change(english, { target: { value: "" } });
  const portuguese = screen.getByRole("textbox", { name: "Reply in Portuguese" });
  fireEvent.change(portuguese, { target: { value: "a".repeat(5001) } });
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(portuguese).toBeInvalid();
  expect(portuguese).toHaveFocus();
  expect(english).toBeValid();
  fireEvent.change(portuguese, { target: { value: "Mais tarde." } });
  await user.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByRole("heading", { name: "Later" });
  expect(toasts.at(-1)).toMatchObject({ title: "Saved reply stored" });
  expect(saved[1]).toMatchObject({ title: "Later", text_en: null, text_pt: "Mais tarde." });

  await user.click(screen.getByRole("button", { name: "Edit “Thanks”" }));
  await user.type(screen.getByRole("textbox", { name: "Title" }), " a lot");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByRole("heading", { name: "Thanks a lot" });

  const before = saved[0]!;
  await user.click(screen.getByRole("button", { name: "Delete “Thanks a lot”" }));
  await waitFor(() => expect(toasts.at(-1)).toMatchObject({ title: "Saved reply deleted" }));
  expect(saved).toHaveLength(1);
  toasts.at(-1)!.action!.onClick();
  await screen.findByRole("heading", { name: "Thanks a lot" });
  expect(saved[1]).toEqual(before);
});

it("AM-saved-1: saved replies are moved by buttons, also back", async () => {
  saved = [
    saved[0]!,
    { ...saved[0]!, id: "s2", title: "Later" },
    { ...saved[0]!, id: "s3", title: "No" },
  ];
  const { user, toasts } = open("/admin/contact-messages?box=replies");
  const titles = () => screen.getAllByRole("heading", { level: 2 }).map((one) => one.textContent);
  await screen.findByRole("heading", { name: "Later" });
  const up = screen.getByRole("button", { name: "Move “Thanks” up" });
  expect(up).toHaveAttribute("aria-disabled", "true");
  await user.click(up);
  expect(moves).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Move “No” up" }));
  expect(screen.getByRole("button", { name: "Move “No” up" })).toHaveFocus();
  expect(titles()).toEqual(["Thanks", "No", "Later"]);
  expect(screen.getByText("No: position 2 of 3")).toBeInTheDocument();
  await waitFor(() => expect(moves).toEqual([{ ids: ["s3"], place: "after", target: "s1" }]));
  await waitFor(() => expect(toasts.at(-1)?.title).toBe("Order of the saved replies updated"));
  toasts.at(-1)!.action!.onClick();
  await waitFor(() => expect(titles()).toEqual(["Thanks", "Later", "No"]));
  refused = true;
  await user.click(screen.getByRole("button", { name: "Move “Thanks” down" }));
  await waitFor(() => expect(toasts.at(-1)?.title).toBe("The order could not be changed."));
  expect(titles()).toEqual(["Thanks", "Later", "No"]);
});

it("AM-commission-2: an offer is mailed again only while it can be answered", async () => {
  const offer: CommissionOffer = {
    id: "55555555-5555-4555-8555-555555555555",
    text: "A portrait",
    price: "300 €",
    deposit: "",
    promised_on: "",
    expires_on: "",
    terms: "",
    created_at: "2026-11-13T09:41:00Z",
    state: "open",
    answered_at: null,
    answered_name: "",
  };
  offers = [offer, { ...offer, id: "66666666-6666-4666-8666-666666666666", state: "expired" }];
  replies = offers.map(({ id, state }) =>
    replyRow({ id, kind: "offer", text: `An ${state} offer`, delivery: "sent" }),
  );
  open(`/admin/contact-messages?message=${messageId}`);
  const conversation = await screen.findByRole("region", { name: "Conversation" });
  const item = async (text: string) =>
    within((await within(conversation).findByText(text)).closest("li")!);
  expect(await (await item("An open offer")).findByRole("button")).toHaveTextContent(
    "Mail it again",
  );
  expect((await item("An expired offer")).queryByRole("button")).toBeNull();
});

it("AM-reply-2: a reply that was not mailed after twelve hours is shown as failed and can be mailed again", async () => {
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const lost = "77777777-7777-4777-8777-777777777777";
  const undated = "88888888-8888-4888-8888-888888888888";
  replies = [
    replyRow({ text: "Waiting", delivery: "queued", delivery_at: hoursAgo(11) }),
    replyRow({ id: lost, text: "Lost", delivery: "queued", delivery_at: hoursAgo(12) }),
    replyRow({ id: undated, text: "Undated", delivery: "queued", delivery_at: null }),
  ];
  const { user } = open(`/admin/contact-messages?message=${messageId}`);
  const conversation = await screen.findByRole("region", { name: "Conversation" });
  const item = (text: string) => within(within(conversation).getByText(text).closest("li")!);
  expect(item("Waiting").getByText("Being mailed")).toBeInTheDocument();
  expect(item("Waiting").queryByRole("button")).toBeNull();
  expect(item("Undated").getByText("Mail failed")).toBeInTheDocument();
  expect(item("Lost").getByText("Mail failed")).toBeInTheDocument();
  await user.click(item("Lost").getByRole("button", { name: "Mail it again" }));
  await waitFor(() =>
    expect(actions).toEqual([{ action: "resend", id: lost, message_id: messageId }]),
  );
});
