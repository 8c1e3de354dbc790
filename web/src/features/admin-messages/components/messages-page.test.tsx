import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { MessagesPage } from "@/features/admin-messages/components/messages-page";
import { LIST_SEARCH_DEBOUNCE_MS } from "@/lib/constants";
import type {
  CommissionState,
  ContactReply,
  ContactSubmission,
  Conversation,
  MessageNotice,
  QuarantinedMessage,
} from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const table = `${testBoot.apiUrl}/rest/v1/contact_submissions`;
const functions = `${testBoot.apiUrl}/functions/v1`;
const first = "11111111-1111-4111-8111-111111111111";
const second = "22222222-2222-4222-8222-222222222222";
let rows: ContactSubmission[];
let total: number | undefined;
let notices: MessageNotice[];
let quarantined: QuarantinedMessage[];
let conversation: Conversation;
let replies: ContactReply[];
const replied: unknown[] = [];
const changes: unknown[] = [];
const searches: string[] = [];
const resolved: string[] = [];

const aReply: ContactReply = {
  id: "r1",
  message_id: first,
  author: "owner",
  kind: "reply",
  text: "Claro!",
  created_at: "2026-11-13T09:41:00Z",
  delivery: "failed",
  delivery_at: "2026-11-13T09:42:00Z",
  delivery_error: "No such mailbox",
};
const undecided: CommissionState = {
  stage: "enquiry",
  stage_at: null,
  promised_on: "",
  next: ["offer", "accepted", "declined"],
  offers: [],
  terms: "",
  place: 0,
  slots: 0,
  taken: 0,
};
const renewed = {
  url: "https://alvor.example/enquiry/bmV3",
  created_at: "2026-11-14T09:41:00Z",
  expires_at: "2027-11-14T09:41:00Z",
};

const server = setupServer(
  http.get(table, ({ request }) => {
    const { searchParams } = new URL(request.url);
    const wants = (column: "id" | "status") => searchParams.get(column)?.replace("eq.", "");
    const found = rows.filter(
      (row) => (wants("id") ?? row.id) === row.id && (wants("status") ?? row.status) === row.status,
    );
    searches.push(searchParams.get("or") ?? "");
    return HttpResponse.json(found, {
      headers: { "content-range": `0-${found.length - 1}/${total ?? found.length}` },
    });
  }),
  http.head(table, () => new HttpResponse(null, { headers: { "content-range": "*/3" } })),
  http.get(`${testBoot.apiUrl}/rest/v1/saved_replies`, () => HttpResponse.json([])),
  http.patch(table, async ({ request }) => {
    const change = (await request.json()) as Partial<ContactSubmission>;
    const { searchParams } = new URL(request.url);
    const id = searchParams.get("id")?.replace("eq.", "");
    const from = searchParams.get("status")?.replace("eq.", "");
    changes.push({ id, ...change });
    rows = rows.map((row) =>
      row.id === id && (from ?? row.status) === row.status ? { ...row, ...change } : row,
    );
    return HttpResponse.json({ id });
  }),
  http.delete(table, ({ request }) => {
    const id = new URL(request.url).searchParams.get("id")?.replace("eq.", "");
    rows = rows.filter((row) => row.id !== id);
    return new HttpResponse(null, { status: 204 });
  }),
  http.get(`${testBoot.apiUrl}/rest/v1/contact_replies`, () => HttpResponse.json(replies)),
  http.post(`${functions}/contact-reply`, async ({ request }) => {
    const body = (await request.json()) as { action?: string; text?: string };
    if (body.action) replied.push(body);
    if (body.text === "refused")
      return HttpResponse.json(
        { success: false, error: "The mail server is gone" },
        { status: 409 },
      );
    if (body.action === "reply")
      replies = [
        ...replies,
        {
          ...aReply,
          id: "r2",
          text: body.text!,
          delivery: "queued",
          delivery_at: new Date().toISOString(),
          delivery_error: null,
        },
      ];
    if (body.action === "renew") conversation = { ...conversation, link: renewed };
    return HttpResponse.json({ success: true, ...conversation });
  }),
  http.post(`${functions}/commission`, () => HttpResponse.json(undecided)),
  http.post(`${functions}/contact-notices`, async ({ request }) => {
    const { action } = (await request.json()) as { action?: string };
    if (action === "retry")
      notices = notices.map((notice) => ({ ...notice, state: "waiting" as const }));
    return HttpResponse.json({ success: true, items: notices });
  }),
  http.post(`${functions}/contact-quarantine`, async ({ request }) => {
    const { action = "list", id } = (await request.json()) as { action?: string; id?: string };
    if (action !== "list") {
      resolved.push(`${action} ${id}`);
      quarantined = quarantined.filter((message) => message.id !== id);
    }
    return HttpResponse.json({
      success: true,
      items: quarantined,
      total: quarantined.length,
      flood: quarantined.filter(({ cause }) => cause === "flood").length,
    });
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  changes.length = searches.length = resolved.length = 0;
  total = undefined;
  replied.length = 0;
  replies = [];
  conversation = { mail: false, links: false, language: "pt", link: null, pictures: [] };
  notices = [];
  quarantined = [
    {
      id: "q1",
      name: "Bot",
      email: "bot@exemplo.pt",
      message: "Buy my watches now",
      cause: "field",
      filled: "http://watches",
      created_at: "2026-11-12T09:41:00Z",
      expires_at: "2026-12-12T09:41:00Z",
    },
  ];
  rows = [
    {
      id: first,
      name: "Inês",
      email: "ines@exemplo.pt",
      message: "Bom dia!\nTemos uma parede.",
      reason: "commission",
      status: "new",
      created_at: "2026-11-12T09:41:00Z",
    },
    {
      id: second,
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
  const { queryClient } = renderApp(<MessagesPage />, {
    owner: testOwner(),
    auth: ownerAuth,
    path,
  });
  await screen.findByRole("button", { name: /Inês/ });
  return { user, toasts, queryClient };
}

const item = (name: RegExp) => screen.getByRole("button", { name });

it("AM-open-1: marks a message as read only when it is opened", async () => {
  const { user } = await open();
  expect(screen.getByText("Choose a message to read it.")).toBeInTheDocument();
  expect(changes).toEqual([]);
  await user.click(item(/Inês/));
  expect(await screen.findByRole("heading", { name: "Inês" })).toBeInTheDocument();
  await waitFor(() => expect(within(item(/Inês/)).getByText("Read")).toBeInTheDocument());
  await waitFor(() => expect(changes).toEqual([{ id: first, status: "read" }]));
  await user.click(item(/Marta/));
  expect(changes).toHaveLength(1);
});

it("AM-open-1: a message that was replied to on another device stays replied when it is opened", async () => {
  const { user, toasts } = await open();
  rows[0]!.status = "replied"; // the list still has the status "new"
  await user.click(item(/Inês/));
  await waitFor(() => expect(changes).toEqual([{ id: first, status: "read" }]));
  await waitFor(() => expect(within(item(/Inês/)).getByText("Replied")).toBeInTheDocument());
  expect(rows[0]!.status).toBe("replied");
  expect(toasts).toEqual([]);
});

it("AM-open-1: a message that has become new since the list was read is set to read", async () => {
  rows[0]!.status = "replied";
  const { user } = await open();
  rows[0]!.status = "new"; // the visitor has written again
  await user.click(item(/Inês/));
  await waitFor(() => expect(changes).toEqual([{ id: first, status: "read" }]));
  await waitFor(() => expect(rows[0]!.status).toBe("read"));
});

it("AM-open-5: an opened message shows the work that it asks about, or that it was deleted", async () => {
  const works = [
    { id: "33333333-3333-4333-8333-333333333333", title: "Romãs", image_url: "/romas.jpg" },
  ];
  server.use(
    http.get(`${testBoot.apiUrl}/rest/v1/products`, ({ request }) => {
      const id = new URL(request.url).searchParams.get("id");
      return HttpResponse.json(works.filter((work) => id === `eq.${work.id}`));
    }),
  );
  rows[0]!.artwork_id = works[0]!.id;
  rows[1]!.artwork_id = "44444444-4444-4444-8444-444444444444";
  const { user } = await open();
  await user.click(item(/Inês/));
  const link = await screen.findByRole("link", { name: "Romãs" });
  expect(link).toHaveAttribute("href", "/admin/products?q=Rom%C3%A3s");
  expect(document.querySelector("dd img")).toHaveAttribute("src", "/romas.jpg");
  await user.click(item(/Marta/));
  expect(await screen.findByText("A work that has been deleted")).toBeVisible();
});

it("shows the row of the list if the opened message cannot be fetched", async () => {
  let requestCount = 0;
  server.use(
    http.get(table, ({ request }) => {
      if (!new URL(request.url).searchParams.has("id")) return undefined; // the list
      requestCount++;
      return HttpResponse.error();
    }),
  );
  const { user, queryClient } = await open();
  await user.click(item(/Marta/)); // it is read already: no change follows
  await waitFor(() => expect(requestCount).toBe(1));
  await waitFor(() => expect(queryClient.isFetching()).toBe(0));
  expect(screen.getByRole("heading", { name: "Marta" })).toBeInTheDocument();
});

it("AM-open-1: a message is deleted after its status is saved", async () => {
  const requests: string[] = [];
  let saveStatus = () => {};
  const statusSaved = new Promise<void>((done) => (saveStatus = done));
  server.use(
    http.patch(table, async () => {
      await statusSaved;
      requests.push("status");
    }),
    http.delete(table, () => void requests.push("delete")),
  );
  const { user, toasts, queryClient } = await open();
  await user.click(item(/Inês/));
  await screen.findByRole("heading", { name: "Inês" });
  await user.click(await screen.findByRole("button", { name: "Delete" }));
  await user.click(within(screen.getByRole("alertdialog")).getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(queryClient.isMutating()).toBe(2));
  saveStatus();
  await waitFor(() => expect(requests).toEqual(["status", "delete"]));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Message deleted" }]));
});

it("AM-open-2: keeps the opened message in the list when it no longer matches the filter", async () => {
  const { user } = await open("/admin/contact-messages?status=new");
  await user.click(item(/Inês/));
  await waitFor(() => expect(changes).toEqual([{ id: first, status: "read" }]));
  await waitFor(() => expect(within(item(/Inês/)).getByText("Read")).toBeInTheDocument());
  expect(screen.queryByRole("button", { name: /Marta/ })).not.toBeInTheDocument();
});

it("AM-list-4: searches for the typed text, and offers to clear a search without results", async () => {
  const { user } = await open();
  server.use(
    http.get(table, ({ request }) => {
      const or = new URL(request.url).searchParams.get("or");
      if (!or) return HttpResponse.json(rows, { headers: { "content-range": "0-1/2" } });
      searches.push(or);
      return HttpResponse.json([], { headers: { "content-range": "*/0" } });
    }),
  );
  const field = screen.getByRole("searchbox", { name: "Search" });
  const type = (value: string) => fireEvent.change(field, { target: { value } });
  // By a clock of its own: a busy machine may take longer for a key than the field waits for the next one.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  for (const value of ["a", "az", "azu"]) {
    type(value);
    act(() => void vi.advanceTimersByTime(LIST_SEARCH_DEBOUNCE_MS - 1));
  }
  vi.useRealTimers();
  type("azul");
  expect(await screen.findByText("No message matches.")).toBeInTheDocument();
  expect(searches.filter(Boolean)).toEqual([
    '(name.ilike."%azul%",email.ilike."%azul%",message.ilike."%azul%")',
  ]);
  await user.click(screen.getByRole("button", { name: "Show all messages" }));
  expect(await screen.findByRole("button", { name: /Marta/ })).toBeInTheDocument();
  expect(screen.getByRole("searchbox")).toHaveValue("");
});

it("pages through many messages", async () => {
  total = 120;
  const { user } = await open();
  expect(screen.getByText("1–50 of 120")).toBeInTheDocument();
  expect(screen.getByRole("button", { name: "Newer" })).toBeDisabled();
  await user.click(screen.getByRole("button", { name: "Older" }));
  expect(await screen.findByText("51–100 of 120")).toBeInTheDocument();
});

it("moves through the list with the arrow keys", async () => {
  const { user } = await open();
  item(/Inês/).focus();
  await user.keyboard("{ArrowDown}");
  expect(item(/Marta/)).toHaveFocus();
  await user.keyboard("{ArrowDown}{ArrowUp}{ArrowUp}");
  expect(item(/Inês/)).toHaveFocus();
});

it("shows failed notices and sends them again", async () => {
  notices = [
    {
      message_id: second,
      channel: "mail",
      recipient: "ana@alvor.example",
      state: "failed",
      error: "550 No such mailbox",
      queued_at: "2026-11-08T11:40:00Z",
    },
  ];
  const { user, toasts } = await open(`/admin/contact-messages?message=${second}`);
  expect(await within(item(/Marta/)).findByText("Notice not sent")).toBeInTheDocument();
  expect(within(item(/Inês/)).queryByText("Notice not sent")).not.toBeInTheDocument();
  expect(screen.getByRole("alert")).toHaveTextContent(
    "Mail to ana@alvor.example: 550 No such mailbox",
  );
  await user.click(screen.getByRole("button", { name: "Send again" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "The notice is on its way again" }]));
  await waitFor(() => expect(screen.queryByRole("alert")).not.toBeInTheDocument());
});

it("AM-quarantine-1 AM-quarantine-3: shows the quarantine, restores from it and deletes after the question", async () => {
  quarantined.push({ ...quarantined[0]!, id: "q2", name: "Person" });
  const { user, toasts } = await open();
  await user.click(await screen.findByRole("link", { name: "Quarantine (2)" }));
  await user.click(await screen.findByRole("button", { name: /Person/ }));
  expect(screen.getByText("http://watches")).toBeInTheDocument();
  expect(screen.getByText("12 December 2026")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Restore" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Message restored" }]));
  await user.click(await screen.findByRole("button", { name: /Bot/ }));
  await user.click(await screen.findByRole("button", { name: "Delete" }));
  expect(screen.getByRole("alertdialog")).toHaveAccessibleDescription(
    "Are you sure you want to delete this message? This action cannot be undone.",
  );
  await user.click(screen.getAllByRole("button", { name: "Delete" }).at(-1)!);
  expect(await screen.findByText("Nothing is in quarantine.")).toBeInTheDocument();
  expect(resolved).toEqual(["restore q2", "delete q1"]);
  await user.click(screen.getByRole("link", { name: "All messages" }));
  expect(await screen.findByRole("button", { name: /Inês/ })).toBeInTheDocument();
});

it("AM-quarantine-4: shows how many messages of a flood are in quarantine, with a link", async () => {
  const flooded = { ...quarantined[0]!, cause: "flood" as const, filled: "" };
  quarantined = [0, 1, 2].map((n) => ({ ...flooded, id: `f${n}`, name: `Visitor ${n}` }));
  const { user } = await open();
  expect(
    await screen.findByText("3 messages arrived in a short time and are kept aside."),
  ).toBeInTheDocument();
  await user.click(screen.getByRole("link", { name: "Look at them in quarantine" }));
  await user.click(await screen.findByRole("button", { name: /Visitor 1/ }));
  expect(await screen.findByText("Many messages arrived in a short time")).toBeInTheDocument();
});

it("AM-quarantine-3: shows a toast when a message could not be restored", async () => {
  const { user, toasts } = await open();
  await user.click(await screen.findByRole("link", { name: "Quarantine (1)" }));
  await user.click(await screen.findByRole("button", { name: /Bot/ }));
  server.use(
    http.post(`${functions}/contact-quarantine`, () =>
      HttpResponse.json({ success: false, error: "no" }, { status: 404 }),
    ),
  );
  await user.click(screen.getByRole("button", { name: "Restore" }));
  await waitFor(() =>
    expect(toasts).toMatchObject([{ description: "The message could not be restored." }]),
  );
});

it("opens the message in the URL", async () => {
  await open(`/admin/contact-messages?message=${second}`);
  expect(await screen.findByRole("heading", { name: "Marta" })).toBeInTheDocument();
});

it("AM-open-1 AM-status-2: the menu of the badge changes the status, also back to New", async () => {
  const { user } = await open();
  await user.click(item(/Inês/));
  await user.click(await screen.findByRole("button", { name: "Change status: Read" }));
  expect(screen.getByRole("menuitemradio", { name: "Read" })).toBeChecked();
  await user.click(screen.getByRole("menuitemradio", { name: "New" }));
  await waitFor(() =>
    expect(changes).toEqual([
      { id: first, status: "read" },
      { id: first, status: "new" },
    ]),
  );
  expect(within(item(/Inês/)).getByText("New")).toBeInTheDocument();
});

it("AM-status-1: the reply link marks the message as replied", async () => {
  const { user } = await open(`/admin/contact-messages?message=${second}`);
  const reply = await screen.findByRole("link", { name: "Reply" });
  expect(reply).toHaveAttribute(
    "href",
    "mailto:marta@exemplo.pt?subject=Your%20message%20to%20Alvor",
  );
  reply.addEventListener("click", (event) => event.preventDefault());
  await user.click(reply);
  await waitFor(() => expect(changes).toEqual([{ id: second, status: "replied" }]));
});

it("AM-status-2: restores the status when the change could not be saved", async () => {
  const { user, toasts } = await open(`/admin/contact-messages?message=${second}`);
  server.use(http.patch(table, () => HttpResponse.json({ message: "asleep" }, { status: 500 })));
  await user.click(await screen.findByRole("button", { name: "Change status: Read" }));
  await user.click(screen.getByRole("menuitemradio", { name: "Replied" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Error", description: "asleep" }]));
  await waitFor(() => expect(within(item(/Marta/)).getByText("Read")).toBeInTheDocument());
});

it("deletes a message after confirmation and closes it", async () => {
  const { user, toasts } = await open(`/admin/contact-messages?message=${second}`);
  await user.click(await screen.findByRole("button", { name: "Delete" }));
  expect(screen.getByRole("alertdialog")).toHaveAccessibleDescription(
    "Are you sure you want to delete this message? This action cannot be undone.",
  );
  await user.click(screen.getAllByRole("button", { name: "Delete" }).at(-1)!);
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Message deleted" }]));
  expect(await screen.findByText("Choose a message to read it.")).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: /Marta/ })).not.toBeInTheDocument();
});

it("AM-delete-1: shows a toast when a deletion fails", async () => {
  const { user, toasts } = await open(`/admin/contact-messages?message=${second}`);
  server.use(http.delete(table, () => HttpResponse.json({ message: "no" }, { status: 500 })));
  await user.click(await screen.findByRole("button", { name: "Delete" }));
  await user.click(screen.getAllByRole("button", { name: "Delete" }).at(-1)!);
  await waitFor(() =>
    expect(toasts).toMatchObject([{ description: "There was an error deleting the message." }]),
  );
});

it("AM-open-4: on a phone the message opens full-screen and is closed by All messages", async () => {
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

it("AM-reply-1: without a mail server and a private link the form is replaced by a link to the mail program", async () => {
  await open(`/admin/contact-messages?message=${first}`);
  expect(await screen.findByRole("link", { name: "Reply" })).toBeVisible();
  await screen.findByRole("region", { name: "Conversation" });
  expect(screen.queryByRole("button", { name: "Send reply" })).not.toBeInTheDocument();
  expect(screen.queryByRole("button", { name: "Make a link" })).not.toBeInTheDocument();
});

it("AM-reply-1 AM-reply-2: a reply is sent once, its mail can be sent again, and failures keep the text", async () => {
  replies = [aReply];
  conversation = { mail: true, links: true, language: "pt", link: null, pictures: [] };
  const { user, toasts } = await open(`/admin/contact-messages?message=${first}`);
  const region = within(await screen.findByRole("region", { name: "Conversation" }));
  expect(region.getByText("Mail failed: No such mailbox")).toBeVisible();
  await user.click(region.getByRole("button", { name: "Mail it again" }));
  await waitFor(() => expect(replied).toEqual([{ action: "resend", id: "r1", message_id: first }]));

  const text = region.getByLabelText("Reply to Inês");
  await user.click(region.getByRole("button", { name: "Send reply" }));
  expect(text).toHaveAccessibleDescription(/Please write something first\./);
  await user.type(text, "refused");
  await user.click(region.getByRole("button", { name: "Send reply" }));
  await waitFor(() =>
    expect(toasts).toContainEqual(
      expect.objectContaining({ title: "Error", description: "The mail server is gone" }),
    ),
  );
  expect(text).toHaveValue("refused");
  await user.clear(text);
  await user.type(text, "Em maio.");
  await user.click(region.getByRole("button", { name: "Send reply" }));
  expect(await region.findByText("Em maio.")).toBeVisible();
  expect(region.getByText("Being mailed")).toBeVisible();
  await waitFor(() => expect(text).toHaveValue(""));
  expect(toasts).toContainEqual(expect.objectContaining({ title: "Reply stored" }));
  const sent = replied.slice(1) as { id: string; text: string }[];
  expect(sent.map((one) => one.text)).toEqual(["refused", "Em maio."]);
  expect(sent[0]!.id).toBe(sent[1]!.id);
});

/** Holds the response to a reply until the returned function is called. `respond` makes another response than the server's. */
function holdReplies(respond?: () => Response): () => void {
  let answer = () => {};
  const answered = new Promise<void>((done) => (answer = done));
  server.use(
    http.post(`${functions}/contact-reply`, async ({ request }) => {
      const { action } = (await request.clone().json()) as { action?: string };
      if (action !== "reply") return undefined;
      await answered;
      return respond?.();
    }),
  );
  return () => answer();
}

it("AM-reply-1: the result of a reply is shown after another message was opened", async () => {
  conversation = { mail: true, links: true, language: "pt", link: null, pictures: [] };
  const answer = holdReplies(() =>
    HttpResponse.json({ success: false, error: "The disk is full" }, { status: 507 }),
  );
  const { user, toasts } = await open(`/admin/contact-messages?message=${first}`);
  await user.type(await screen.findByLabelText("Reply to Inês"), "Em maio.");
  await user.click(screen.getByRole("button", { name: "Send reply" }));
  await user.click(item(/Marta/));
  await screen.findByLabelText("Reply to Marta");
  answer();
  await waitFor(() => expect(toasts).toMatchObject([{ description: "The disk is full" }]));
  await user.click(item(/Inês/));
  expect(await screen.findByLabelText("Reply to Inês")).toHaveValue("Em maio.");
});

it("AM-reply-1: a form that is opened again while its text is being sent is read-only, and empty afterwards", async () => {
  conversation = { mail: true, links: true, language: "pt", link: null, pictures: [] };
  const answer = holdReplies();
  const { user, toasts } = await open(`/admin/contact-messages?message=${first}`);
  const field = () => screen.findByLabelText("Reply to Inês");
  await user.clear(await field());
  await user.type(await field(), "Em junho.");
  await user.click(screen.getByRole("button", { name: "Send reply" }));
  await user.click(item(/Marta/));
  await screen.findByLabelText("Reply to Marta");
  await user.click(item(/Inês/));
  expect(await field()).toHaveValue("Em junho.");
  expect(await field()).toHaveAttribute("readonly");
  answer();
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Reply stored" }]));
  await waitFor(async () => expect(await field()).toHaveValue(""));
  await waitFor(async () => expect(await field()).not.toHaveAttribute("readonly"));
});

it("FN-reply-renew: the private link can be copied and renewed", async () => {
  conversation = { mail: true, links: true, language: "pt", link: null, pictures: [] };
  const { user } = await open(`/admin/contact-messages?message=${first}`);
  const region = within(await screen.findByRole("region", { name: "Conversation" }));
  expect(region.getByText("The visitor has no private link.")).toBeVisible();
  await user.click(region.getByRole("button", { name: "Make a link" }));
  expect(await region.findByText(/works until 14 Nov 2027/)).toBeVisible();
  await user.click(region.getByRole("button", { name: "Copy link" }));
  expect(await navigator.clipboard.readText()).toBe(renewed.url);
  expect(region.getByText("Copied")).toBeVisible();
  await user.click(region.getByRole("button", { name: "Renew link" }));
  expect(await region.findByText(/There is a new link/)).toBeVisible();
});
