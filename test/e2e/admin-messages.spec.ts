// The owner's messages: new ones with and without the live connection, many messages, failed notices and the
// quarantine, by keyboard, on a phone, in both languages and colour schemes.
import type { Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { startMailServer } from "../harness/mail-server.ts";
import { type Server, startServer } from "../harness/server.ts";
import { cpuTime, cpuTimePerFrame, signInAt } from "./admin.ts";
import {
  expect,
  expectAccessible,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  recordToasts,
  test,
} from "./fixtures.ts";
import { inLanguage, type Language, languages, repetition, text } from "./texts.ts";

test.use({
  contextOptions: { reducedMotion: "reduce" },
  allowedConsole: [/net::ERR_INTERNET_DISCONNECTED/], // where a test cuts the network
});
const owner = { email: "ana@example.com", password: "a wall of whitewash" };
let server: Server;

test.beforeEach(async () => {
  server = await startServer("sqlite");
  await server.command(["owner", "add", owner.email, "--password-stdin"], `${owner.password}\n`);
});
test.afterEach(async ({ page }) => {
  await page.close(); // an open page would send requests to the stopped server
  await server.stop();
});

const signIn = (page: Page, path: string, language: Language = "en") =>
  signInAt(page, { ...server, owner }, path, language);

async function sendMessage(name: string, reason = ""): Promise<void> {
  const { error } = await asAnon(server).functions.invoke("submit-contact", {
    body: {
      name,
      email: `${name.toLowerCase().replace(/\W/g, "")}@example.com`,
      message: `Bom dia! Temos uma parede de 6 × 3 metros. ${name}`,
      reason,
    },
  });
  expect(error).toBeNull();
}

/** Inserts messages, one for each minute. */
async function insertMessages(count: number): Promise<void> {
  const reasons = ["general", "commission", "purchase", "collaboration"];
  const statuses = ["replied", "read", "replied", "new"];
  for (let done = 0; done < count; done += 1000) {
    const rows = Array.from({ length: Math.min(1000, count - done) }, (_, i) => ({
      name: `Visitor ${done + i}`,
      email: `visitor-${done + i}@example.com`,
      message: `Message number ${done + i}. ${"Uma parede no pátio da escola. ".repeat(8)}`,
      reason: reasons[i % 4],
      status: statuses[i % 4],
      created_at: new Date(Date.UTC(2026, 0, 1) + (done + i) * 60_000).toISOString(),
    }));
    const { error } = await asService(server).from("contact_submissions").insert(rows);
    expect(error).toBeNull();
  }
}

const rows = (page: Page) => page.getByRole("list", { name: "Messages" }).getByRole("listitem");

/** Records the toasts about new messages from now on. */
async function watchArrivals(page: Page): Promise<() => Promise<string[]>> {
  const toasts = await recordToasts(page);
  return async () => (await toasts()).filter((toast) => toast.startsWith("New message from"));
}

test("AM-list-1 AM-live-1: a new message appears on every admin page without a reload, and an open message stays open", async ({
  page,
}) => {
  await sendMessage("Rui");
  const joined = page
    .waitForEvent("websocket")
    .then((socket) =>
      socket.waitForEvent("framereceived", ({ payload }) =>
        /phx_reply.*postgres_changes/s.test(String(payload)),
      ),
    );
  await signIn(page, "/admin");
  // From now on the page polls only every two minutes. A message that appears within the time of an assertion came by
  // the live connection.
  await joined;
  const arrivals = await watchArrivals(page);
  const tab = page
    .getByRole("navigation", { name: "Dashboard" })
    .getByRole("link", { name: /Messages/ });
  await expect(tab).toHaveAccessibleName("Messages , 1 unread");
  await sendMessage("Inês");
  await expect(page.getByText("New message from Inês")).toBeVisible();
  await expect(tab).toHaveAccessibleName("Messages , 2 unread");
  await expect(page.getByRole("link", { name: /2.*Contact Messages/s })).toBeVisible();

  await tab.click();
  await page.getByRole("button", { name: /Rui/ }).click();
  await expect(page.getByRole("heading", { name: "Rui" })).toBeVisible();
  await expect(tab).toHaveAccessibleName("Messages , 1 unread");
  await expect(page.getByRole("button", { name: /Rui/ })).toBeFocused();
  await sendMessage("Marta");
  await expect(page.getByText("New message from Marta")).toBeVisible();
  await expect(rows(page)).toHaveText([/Marta/, /Inês/, /Rui/]);
  await expect(page.getByRole("heading", { name: "Rui" })).toBeVisible();
  await expect(page.getByRole("button", { name: /Rui/ })).toBeFocused();
  expect(await arrivals()).toEqual(["New message from Inês", "New message from Marta"]); // once each

  // Changes from another tab appear here too.
  const { error } = await asService(server).from("contact_submissions").delete().eq("name", "Inês");
  expect(error).toBeNull();
  await expect(rows(page)).toHaveText([/Marta/, /Rui/]);
});

test.describe("without the live connection", () => {
  test.use({ allowedConsole: [/WebSocket/] });
  test("AM-live-3: polling finds a new message", async ({ page }) => {
    await page.routeWebSocket(/realtime/, (socket) => socket.close());
    await page.clock.install();
    const firstLook = page.waitForResponse(
      (response) =>
        response.request().method() === "GET" &&
        /contact_submissions\?.*\blimit=1(&|$)/.test(response.url()),
    );
    await signIn(page, "/admin/contact-messages");
    await expect(page.getByText("No messages yet.")).toBeVisible();
    await (await firstLook).finished(); // a message in the first response would not count as new
    await sendMessage("Inês");
    await page.clock.runFor(16_000);
    await expect(page.getByText("New message from Inês")).toBeVisible();
    await expect(rows(page)).toHaveText([/Inês/]);
  });
});

test.describe("many messages", () => {
  // The browser's console message for a page after the last one.
  test.use({ allowedConsole: [/status of 416/] });
  test("AM-list-3: 5,000 messages open with less than a second of CPU time, scroll smoothly, and are searched, filtered and paged", async ({
    page,
  }) => {
    await insertMessages(5000);
    await signIn(page, "/admin");
    await expect(page.getByRole("link", { name: /5000.*Contact Messages/s })).toBeVisible();
    const tab = page
      .getByRole("navigation", { name: "Dashboard" })
      .getByRole("link", { name: /Messages/ });
    await expect(tab).toHaveAccessibleName("Messages , 1250 unread");
    await tab.hover();
    const opened = await cpuTime(page, async () => {
      await tab.click();
      await expect(rows(page)).toHaveCount(50);
    });
    test.info().annotations.push({ type: "opened", description: `${Math.round(opened)} ms` });
    expect(opened).toBeLessThan(1000);
    const perFrame = await cpuTimePerFrame(page);
    test.info().annotations.push({ type: "per frame", description: `${perFrame.toFixed(1)} ms` });
    expect(perFrame).toBeLessThan(1000 / 60);
    await expect(rows(page)).toHaveCount(50);
    await expect(page.getByText("1–50 of 5000")).toBeVisible();

    await page.getByRole("button", { name: "Older" }).click();
    await expect(page.getByText("51–100 of 5000")).toBeVisible();
    await expect(page).toHaveURL(/page=2/);
    await page.getByLabel("Status", { exact: true }).selectOption("new");
    await expect(page.getByText("1–50 of 1250")).toBeVisible();
    await page.getByLabel("Reason", { exact: true }).selectOption("commission");
    await expect(page.getByText("No message matches.")).toBeVisible();
    await page.getByRole("button", { name: "Show all messages" }).click();
    await expect(page.getByText("1–50 of 5000")).toBeVisible(); // the URL has changed before the next change
    await page.getByRole("searchbox").fill("NUMBER 4321.");
    await expect(rows(page)).toHaveText([/Visitor 4321/]);
    await page.reload();
    await expect(page.getByRole("searchbox")).toHaveValue("NUMBER 4321.");
    await expect(rows(page)).toHaveText([/Visitor 4321/]);

    // A link from a mail opens a message on any page of the list.
    const { data } = await asService(server)
      .from("contact_submissions")
      .select("id")
      .eq("name", "Visitor 7")
      .single();
    await page.goto(`${server.url}/admin/contact-messages?message=${data!.id}`);
    await expect(page.getByRole("heading", { name: "Visitor 7", exact: true })).toBeVisible();
    await page.goto(`${server.url}/admin/contact-messages?page=9999&message=cut-short`);
    await expect(page.getByText("1–50 of 5000")).toBeVisible();
  });
});

test("AM-access-1: the owner reads, marks, restores and deletes messages by keyboard", async ({
  page,
}) => {
  await sendMessage("Rui");
  await sendMessage("Inês", "commission");
  await sendMessage("Bot", "http://watches");
  await signIn(page, "/admin/contact-messages");
  const tabTo = async (name: RegExp | string) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(
        () => document.activeElement?.ariaLabel ?? document.activeElement?.textContent ?? "",
      );
      if (typeof name === "string" ? at.trim() === name : name.test(at)) return;
    }
    throw new Error(`no way to ${name}`);
  };
  await expect(rows(page)).toHaveCount(2);
  await tabTo(/^Inês/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Rui" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Change status: Read" })).toBeVisible();
  await tabTo("Change status: Read");
  // Wait after each key until the focus has moved: a busy page moves it later.
  await page.keyboard.press("Enter");
  const choices = page.getByRole("menuitemradio");
  await expect(choices.first()).toBeFocused();
  await page.keyboard.press("End");
  await expect(choices.last()).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Change status: Replied" })).toBeFocused();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alertdialog")).toBeVisible();
  await expect(page.getByRole("button", { name: "Cancel" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("alertdialog")).toBeHidden();
  await expect(page.getByRole("button", { name: "Delete", exact: true })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Cancel" })).toBeFocused();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Message deleted")).toBeVisible();
  await expect(rows(page)).toHaveText([/Inês/]);

  await page.evaluate(() => document.getElementById("main")?.focus());
  await tabTo("Quarantine (1)");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Quarantine" })).toBeVisible();
  // Tab reaches only what has been loaded.
  await expect(page.getByRole("button", { name: /^Bot/ })).toBeVisible();
  await tabTo(/^Bot/);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Restore" })).toBeVisible();
  await tabTo("Restore");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Message restored")).toBeVisible();
  await expect(page.getByText("Nothing is in quarantine.")).toBeVisible();
  await page.evaluate(() => document.getElementById("main")?.focus());
  await tabTo("All messages");
  await page.keyboard.press("Enter");
  await expect(rows(page)).toHaveText([/Bot/, /Inês/]);
});

test("AM-notice-5: a failed notice is shown at its message and sent later", async ({ page }) => {
  const mailServer = await startMailServer();
  const own = await startServer("sqlite", { env: mailServer.env });
  const before = server;
  server = own;
  try {
    await server.command(["owner", "add", owner.email, "--password-stdin"], `${owner.password}\n`);
    await mailServer.answer("550 No such mailbox");
    await sendMessage("Inês");
    await expect.poll(() => own.log()).toContain("failed permanently");
    await signIn(page, "/admin/contact-messages");
    await page.getByRole("button", { name: /Inês/ }).click();
    await expect(rows(page)).toHaveText([/Notice not sent/]);
    await expect(page.getByRole("alert")).toContainText(
      /Mail to ana@example\.com: .*No such mailbox/,
    );
    await expectAccessible(page);
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Send again" }).click();
    await expect(page.getByText("The notice could not be sent again.")).toBeVisible();
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Send again" }).click();
    await expect(page.getByText("The notice is on its way again")).toBeVisible();
    expect((await mailServer.next(owner.email)).subject).toContain("message from Inês");
    await expect(page.getByRole("alert")).toBeHidden();
  } finally {
    server = before;
    await page.close();
    await own.stop();
    await mailServer.stop();
  }
});

for (const language of languages) {
  test(`AM-list-2: axe: messages and quarantine, on wide and narrow screens, in ${repetition(language)}`, async ({
    page,
  }) => {
    await sendMessage("Rui");
    await sendMessage("Inês", "commission");
    await sendMessage("Bot", `http://watches.example/${"long".repeat(60)}`);
    await signIn(page, "/admin/contact-messages", language);
    const shots = process.env.SCREENSHOTS;
    const checkPage = async (name: string) => {
      for (const width of [1440, 768, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await expectAccessibleInBothSchemes(page, async (scheme) => {
          if (shots)
            await page.screenshot({ path: `${shots}/${name}-${language}-${width}-${scheme}.png` });
        });
        await expectNoSidewaysScroll(page);
      }
    };
    await page.getByRole("button", { name: /Rui/ }).waitFor();
    await checkPage("list");
    await page.getByRole("button", { name: /Inês/ }).click();
    await page.getByRole("heading", { name: "Inês" }).waitFor();
    await checkPage("detail");
    await page.getByRole("button", { name: text(language, "common.delete"), exact: true }).click();
    await page.getByRole("alertdialog").waitFor();
    await checkPage("delete");
    await page.keyboard.press("Escape");
    await page.goto(server.url + inLanguage(language, "/admin/contact-messages?box=quarantine"));
    await page.getByRole("button", { name: /Bot/ }).click();
    await page.getByRole("button", { name: text(language, "messages.restore") }).waitFor();
    await checkPage("quarantine");
  });
}
