// The admin guard, and an open form when the session changes.
import type { BrowserContext, Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { fillSignIn, noonZone, signInAt } from "./admin.ts";
import { expect, recordToasts, test } from "./fixtures.ts";

let server: Server;

// The browser's console messages for refused requests, and for a connection that is closed while it opens: a user who
// loses access leaves the page at any moment.
test.use({
  timezoneId: noonZone,
  allowedConsole: [
    /status of (400|401|403|406) .*\/(rest\/v1\/(products|user_roles|rpc\/\w+)|auth\/v1\/(token|logout|user))|WebSocket is closed before/,
  ],
});

test.beforeAll(async ({ demoFolder }) => {
  server = await startServer("sqlite", { demo: demoFolder });
});
test.afterAll(() => server.stop());
// The requests for messages, which every admin page sends at any time, never get a response. An error for one of them
// would lead the owner away from the page before the save that a test is about.
test.beforeEach(({ context }) =>
  context.route("**/rest/v1/contact_submissions?*", () => undefined),
);

const title = (page: Page) => page.getByLabel("Title", { exact: true });

/** Opens the form of the first work and types into it. */
async function openAndType(page: Page, text: string): Promise<void> {
  await page
    .getByRole("button", { name: /^Edit / })
    .locator("visible=true")
    .first()
    .click();
  await title(page).fill(text);
}

/** Keeps pages that are opened later from noticing that the session has ended, before the save that a test is about. */
const cutLiveChannels = (context: BrowserContext) =>
  context.routeWebSocket(/realtime/, () => undefined);

type StoredSession = { access_token: string; refresh_token: string };

/** Returns the session that the client has stored. */
const storedSession = (page: Page): Promise<StoredSession> =>
  page.evaluate(() => {
    const key = Object.keys(localStorage).find((name) => /^sb-.*-auth-token$/.test(name))!;
    return JSON.parse(localStorage.getItem(key)!);
  });

test("A-guard-5: a renewed token leaves an open form unchanged", async ({ page }) => {
  await page.clock.install();
  await signInAt(page, server, "/admin/products");
  await openAndType(page, "In the middle of a word");
  await title(page).evaluate((input: HTMLInputElement) => {
    input.dataset.same = "yes"; // a new element would not have it
    input.focus();
  });
  const before = await storedSession(page);
  await page.clock.fastForward(57 * 60_000);
  await expect
    .poll(async () => {
      await page.clock.runFor(30_000);
      return (await storedSession(page)).refresh_token;
    })
    .not.toBe(before.refresh_token);
  await expect(title(page)).toHaveValue("In the middle of a word");
  await expect(title(page)).toHaveAttribute("data-same", "yes");
  await expect(title(page)).toBeFocused();
});

test("A-guard-6: signing out in one tab signs out the others, also with an open form, and keeps the deep link", async ({
  context,
}) => {
  const first = await context.newPage();
  await signInAt(first, server, "/admin");
  const second = await context.newPage();
  second.on("dialog", (dialog) => {
    throw new Error(`the browser has shown a question: ${dialog.message()}`);
  });
  await second.goto(`${server.url}/admin/products?type=mural&sort=title`);
  await openAndType(second, "Not saved yet");

  const toasts = await recordToasts(first);
  await first.getByRole("button", { name: "Sign Out" }).click();
  await expect.poll(toasts).toContain("Signed out successfully");
  await expect(second).toHaveURL(/\/admin\/auth$/);
  await expect(second.getByRole("dialog")).toHaveCount(0);

  await fillSignIn(second, server);
  await expect(second).toHaveURL(/\/admin\/products\?type=mural&sort=title$/);
  await expect(title(second)).toHaveValue("Not saved yet");
  await expect(second.getByText(/^Draft of \d\d:\d\d restored/)).toBeVisible();
});

test("A-guard-7: after the server has rejected a token, the client renews it and the save succeeds", async ({
  page,
}) => {
  await signInAt(page, server, "/admin/products?q=Onda");
  await openAndType(page, "Onda grande");
  await page.evaluate(() => {
    const key = Object.keys(localStorage).find((name) => /^sb-.*-auth-token$/.test(name))!;
    const session = JSON.parse(localStorage.getItem(key)!);
    session.access_token = session.access_token.replace(/[^.]+$/, "forged");
    localStorage.setItem(key, JSON.stringify(session));
  });
  const refused = page.waitForResponse((r) => r.status() === 401);
  await page.getByRole("button", { name: "Save changes" }).click();
  expect((await refused).request().method()).toBe("PATCH");
  await expect(page.getByText("Product updated")).toBeVisible();
  const { data } = await asAnon(server).from("products").select("id").eq("title", "Onda grande");
  expect(data).toHaveLength(1);
});

test("A-guard-3 A-guard-8: after the session has ended elsewhere, the owner signs in and finds the unsaved text again", async ({
  page,
  context,
}) => {
  await cutLiveChannels(context);
  await signInAt(page, server, "/admin/products?type=mural");
  await openAndType(page, "Typed before the end");
  const { access_token } = await storedSession(page);
  const { error } = await asService(server).auth.admin.signOut(access_token, "global");
  expect(error).toBeNull();
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page).toHaveURL(/\/admin\/auth$/);
  await fillSignIn(page, server);
  await expect(page).toHaveURL(/\/admin\/products\?type=mural$/);
  await expect(title(page)).toHaveValue("Typed before the end");
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("Product updated")).toBeVisible();
});

test("A-guard-8: a page on which nothing is done leads to sign-in too when the session has ended elsewhere", async ({
  page,
}) => {
  const joined = new Promise<void>((resolve) => {
    page.on("websocket", (socket) => {
      socket.on("framereceived", ({ payload }) => {
        if (payload.toString().includes("Subscribed to PostgreSQL")) resolve();
      });
    });
  });
  await signInAt(page, server, "/admin/reviews");
  await joined;
  const { access_token } = await storedSession(page);
  const { error } = await asService(server).auth.admin.signOut(access_token, "global");
  expect(error).toBeNull();
  await expect(page).toHaveURL(/\/admin\/auth$/);
  await fillSignIn(page, server);
  await expect(page).toHaveURL(/\/admin\/reviews$/);
});

test("A-guard-8 A-set-draft: a session that ends loses no text in the open forms of three tabs: settings, review and cover", async ({
  context,
}) => {
  await cutLiveChannels(context);
  const settings = await context.newPage();
  await signInAt(settings, server, "/admin/settings");
  const name = settings.getByLabel("Name of the site");
  const before = await name.inputValue();
  await name.fill("Half a name");
  await settings.getByLabel("Heading in Portuguese").fill("Meio título");
  const reviews = await context.newPage();
  await reviews.goto(`${server.url}/admin/reviews`);
  await reviews.getByRole("button", { name: "Add Review" }).click();
  await reviews.getByLabel("Client name").fill("Zé");
  await reviews.getByLabel("Message", { exact: true }).fill("Half a sentence");
  const covers = await context.newPage();
  await covers.goto(`${server.url}/admin/cover-images`);
  const cover = covers
    .getByRole("listitem")
    .filter({ has: covers.getByRole("switch") })
    .first();
  await cover.getByLabel("Title", { exact: true }).fill("Half a cover");

  const { access_token } = await storedSession(settings);
  expect((await asService(server).auth.admin.signOut(access_token, "global")).error).toBeNull();
  // One refused save ends the session in all tabs.
  await settings.bringToFront();
  await settings.getByRole("button", { name: "Save changes" }).click();
  for (const page of [settings, reviews, covers]) await expect(page).toHaveURL(/\/admin\/auth$/);
  await fillSignIn(settings, server);
  await expect(settings).toHaveURL(/\/admin\/settings$/);
  await expect(settings.getByText(/^Draft of \d\d:\d\d restored/)).toBeVisible();
  await expect(name).toHaveValue("Half a name");
  await expect(settings.getByLabel("Heading in Portuguese")).toHaveValue("Meio título");
  await name.fill(before);
  await settings.getByRole("button", { name: "Save changes" }).click();
  await expect(settings.getByText("Settings saved")).toBeVisible();

  // The other tabs get the new session and return to their page.
  await expect(reviews.getByLabel("Message", { exact: true })).toHaveValue("Half a sentence");
  await reviews.getByRole("dialog").getByRole("button", { name: "Add Review" }).click();
  await expect(reviews.getByText("Review added successfully")).toBeVisible();
  await expect(cover.getByLabel("Title", { exact: true })).toHaveValue("Half a cover");
  await cover.getByRole("button", { name: "Save", exact: true }).click();
  await expect(covers.getByText("Cover image updated successfully")).toBeVisible();
});

test("A-guard-10: going back with an open form loses no text", async ({ page }) => {
  await signInAt(page, server, "/admin");
  await page.getByRole("link", { name: "Products" }).first().click();
  await openAndType(page, "Half a title");
  await page.goBack();
  await expect(page).toHaveURL(/\/admin$/);
  await page.getByRole("link", { name: "Products" }).first().click();
  await expect(title(page)).toHaveValue("Half a title");
});

test("A-guard-9: a user who loses the role on an open page is led to the home page at the next rejected request", async ({
  page,
}) => {
  await server.command(
    ["owner", "add", "second@example.com", "--password-stdin"],
    "a wall of lime\n",
  );
  await page.goto(`${server.url}/admin/products`);
  await page.getByLabel("Email").fill("second@example.com");
  await page.getByLabel("Password", { exact: true }).fill("a wall of lime");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/admin\/products$/);
  await openAndType(page, "No longer mine to change");
  const { sub } = JSON.parse(
    Buffer.from((await storedSession(page)).access_token.split(".")[1]!, "base64url").toString(),
  ) as { sub: string };
  const { error } = await asService(server).from("user_roles").delete().eq("user_id", sub);
  expect(error).toBeNull();

  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("There was an error saving the product.")).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`^${server.url}/$`));
  await page.goto(`${server.url}/admin/reviews`);
  await expect(page).toHaveURL(new RegExp(`^${server.url}/$`));
  const { data } = await asAnon(server)
    .from("products")
    .select("id")
    .eq("title", "No longer mine to change");
  expect(data).toEqual([]);
});

test("A-guard-9: a user without the role who returns to the window is led to the home page", async ({
  page,
}) => {
  await server.command(
    ["owner", "add", "third@example.com", "--password-stdin"],
    "a wall of lime\n",
  );
  await page.goto(`${server.url}/admin/reviews`);
  await page.getByLabel("Email").fill("third@example.com");
  await page.getByLabel("Password", { exact: true }).fill("a wall of lime");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Reviews" })).toBeVisible();
  const { sub } = JSON.parse(
    Buffer.from((await storedSession(page)).access_token.split(".")[1]!, "base64url").toString(),
  ) as { sub: string };
  await asService(server).from("user_roles").delete().eq("user_id", sub);
  await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
  await expect(page).toHaveURL(new RegExp(`^${server.url}/$`));
});

test("A-guard-1: a reload of an admin page keeps the owner there, and shows nothing private before the role is known", async ({
  page,
}) => {
  await signInAt(page, server, "/admin/reviews");
  let release = () => {};
  const response = new Promise<void>((done) => (release = done));
  await page.route("**/rest/v1/user_roles*", async (route) => {
    await response;
    await route.continue();
  });
  await page.reload();
  await expect(page.getByText("One moment…").first()).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toHaveCount(0);
  release();
  await expect(page.getByRole("heading", { level: 1, name: "Reviews" })).toBeVisible();
  await expect(page).toHaveURL(/\/admin\/reviews$/);
});
