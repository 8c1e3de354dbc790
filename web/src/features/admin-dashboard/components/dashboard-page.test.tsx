import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { DashboardPage } from "@/features/admin-dashboard/components/dashboard-page";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";

const server = setupServer();
beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

let mailServer = true;
let testMail: object = {};
const complete = {
  works: { title: 0, description: 0, medium: 0, seo: 0, alt_texts: 0 },
  series: 0,
  covers: 0,
  reviews: 0,
};
let missing = complete;

function answer(counts: Record<string, number | null>, ready: object = { status: "ok" }) {
  server.use(
    http.get("/health/ready", () => HttpResponse.json(ready)),
    http.post(`${testBoot.apiUrl}/rest/v1/rpc/get_missing_texts`, () => HttpResponse.json(missing)),
    // health.test.tsx tests what the page shows about the health.
    http.post(`${testBoot.apiUrl}/rest/v1/rpc/get_site_health`, () => HttpResponse.error()),
    http.post(`${testBoot.apiUrl}/functions/v1/mail-test`, async ({ request }) => {
      const { action } = (await request.json()) as { action: string };
      return HttpResponse.json(
        action === "status"
          ? { success: true, server: mailServer }
          : { success: true, ...testMail },
      );
    }),
    http.head(`${testBoot.apiUrl}/rest/v1/:table`, ({ params, request }) => {
      const unread = new URL(request.url).searchParams.get("status") === "eq.new";
      const count = unread ? (counts.unread ?? 0) : counts[String(params.table)];
      return count === null || count === undefined
        ? new HttpResponse(null, { status: 500 })
        : new HttpResponse(null, { headers: { "content-range": `*/${count}` } });
    }),
  );
  renderApp(<DashboardPage />, { owner: testOwner(), auth: ownerAuth });
}

it("shows four counts that link to their pages", async () => {
  answer({ products: 22, cover_images: 3, reviews: 9, contact_submissions: 14 });
  const links = [
    ["22 Products", "/admin/products"],
    ["3 Cover Images", "/admin/cover-images"],
    ["9 Reviews", "/admin/reviews"],
    ["14 Contact Messages", "/admin/contact-messages"],
  ] as const;
  for (const [name, to] of links) {
    expect(await screen.findByRole("link", { name })).toHaveAttribute("href", to);
  }
  expect(screen.queryByText("Before the first visitors")).not.toBeInTheDocument();
});

it("shows the number of unread messages, and nothing for 0", async () => {
  answer({ products: 22, cover_images: 3, reviews: 9, contact_submissions: 14, unread: 2 });
  expect(
    await screen.findByRole("link", { name: /^14\s+2 unread\s+Contact Messages$/ }),
  ).toBeInTheDocument();
});

it("A-dash-2: marks a count that is not available and shows the others", async () => {
  answer({ products: 22, cover_images: 3, reviews: null, contact_submissions: 14 });
  expect(await screen.findByRole("link", { name: /Not available\s*Reviews/ })).toBeInTheDocument();
  expect(await screen.findByRole("link", { name: "22 Products" })).toBeInTheDocument();
});

it("A-missing-texts: lists what is missing in one language, with links to those rows", async () => {
  missing = {
    works: { ...complete.works, title: 12, seo: 4, alt_texts: 3 },
    series: 2,
    covers: 1,
    reviews: 0,
  };
  answer({ products: 22, cover_images: 3, reviews: 9, contact_submissions: 14 });
  const links = [
    ["Works without a Portuguese title 12", "/admin/products?show=one-language-title"],
    ["Works with search texts in one language 4", "/admin/products?show=one-language-seo"],
    ["Works without alternative texts 3", "/admin/products?show=no-alt-texts"],
    ["Series with texts in one language 2", "/admin/series"],
    ["Covers that lack a text or an alternative text 1", "/admin/cover-images"],
  ] as const;
  for (const [name, to] of links)
    expect(await screen.findByRole("link", { name })).toHaveAttribute("href", to);
  expect(screen.queryByRole("link", { name: /^Reviews in one/ })).not.toBeInTheDocument();
  missing = complete;
});

it("shows no list of missing texts when none is missing", async () => {
  answer({ products: 22, cover_images: 3, reviews: 9, contact_submissions: 14 });
  await screen.findByRole("link", { name: "22 Products" });
  expect(screen.queryByText("Missing texts")).not.toBeInTheDocument();
});

it("A-dash-4: shows a checklist on an empty site", async () => {
  answer({ products: 0, cover_images: 0, reviews: 2, contact_submissions: 0 });
  expect(await screen.findByRole("link", { name: "Add the first product" })).toHaveAttribute(
    "href",
    "/admin/products",
  );
  expect(
    screen.getByRole("link", { name: "Upload a cover for the home page" }),
  ).toBeInTheDocument();
  expect(screen.queryByRole("link", { name: "Add the first review" })).not.toBeInTheDocument();
});

it.each([
  ["low", "The server's disk is nearly full", "tell whoever hosts the site"],
  ["full", "The server's disk is full", "Deleting works"],
])("A-dash-6: warns the owner when the disk has %s room", async (disk, title, text) => {
  answer({ products: 22, cover_images: 3, reviews: 9, contact_submissions: 14 }, { disk });
  const alert = await screen.findByRole("alert");
  expect(alert).toHaveTextContent(title);
  expect(alert).toHaveTextContent(text);
});

it("shows no warning for a disk with enough space", async () => {
  answer({ products: 22, cover_images: 3, reviews: 9, contact_submissions: 14 });
  expect(await screen.findByRole("link", { name: "22 Products" })).toBeInTheDocument();
  expect(screen.queryByRole("alert")).not.toBeInTheDocument();
});

it("A-set-mail: warns the owner if no mail server is configured, and shows the result of a test mail", async () => {
  mailServer = false;
  answer({ products: 22, cover_images: 3, reviews: 9, contact_submissions: 14 });
  expect(await screen.findByText("No mail server is set")).toBeInTheDocument();
  const button = screen.getByRole("button", { name: "Send me a test mail" });
  for (const [came, text] of [
    [{ result: "kept", to: "ana@example.com" }, /for ana@example\.com was kept as a file/],
    [{ result: "sent", to: "ana@example.com" }, /has taken the test mail for ana@example\.com/],
    [
      { result: "failed", to: "a", error: "550 No such mailbox" },
      /The test mail was not sent: 550 No such mailbox/,
    ],
  ] as const) {
    testMail = came;
    await userEvent.click(button);
    await waitFor(() => expect(screen.getByRole("status")).toHaveTextContent(text));
  }
  server.use(
    http.post(`${testBoot.apiUrl}/functions/v1/mail-test`, () =>
      HttpResponse.json({ success: false, error: "Too many test mails." }, { status: 429 }),
    ),
  );
  await userEvent.click(button);
  await waitFor(() => expect(screen.getByRole("status")).toHaveTextContent("Too many test mails."));
  mailServer = true;
});

it("shows no warning if a mail server is configured", async () => {
  answer({ products: 22, cover_images: 3, reviews: 9, contact_submissions: 14 });
  await screen.findByRole("link", { name: "22 Products" });
  expect(screen.queryByText("No mail server is set")).not.toBeInTheDocument();
});
