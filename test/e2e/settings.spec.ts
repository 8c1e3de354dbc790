// The owner edits the site at /admin/settings, and visitors see the changes when they load a page, on both databases.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { asAnon, asOwner, asService, ownerEmail, ownerPassword } from "../harness/clients.ts";
import { startMailServer } from "../harness/mail-server.ts";
import { root } from "../harness/root.ts";
import { type Server, startServer } from "../harness/server.ts";
import { noonZone, signInAt } from "./admin.ts";
import {
  expect,
  expectAccessible,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  finishAnimations,
  recordToasts,
  test,
} from "./fixtures.ts";
import { inLanguage, type Language, languages, repetition, text } from "./texts.ts";

// The browser's console messages for refusals, an account without a role, and the cut network.
test.use({
  timezoneId: noonZone,
  allowedConsole: [
    /(status of (400|401|403|409) .*\/rpc\/save_site_settings|status of 406 .*\/user_roles|net::ERR_INTERNET_DISCONNECTED)/,
  ],
});

const portrait = join(root, "internal/demo/content/images/pt-artista.webp");
const settingsPath = "/admin/settings";

async function openSettings(page: Page, server: Server, language: Language = "en"): Promise<void> {
  await page.goto(server.url + inLanguage(language, settingsPath));
  const email = page.getByLabel(text(language, "auth.email"), { exact: true });
  const heading = page.getByRole("heading", { level: 1, name: text(language, "settings.title") });
  await expect(email.or(heading)).toBeVisible();
  if (await email.isVisible()) {
    await email.fill(ownerEmail);
    await page.getByLabel(text(language, "auth.password"), { exact: true }).fill(ownerPassword);
    await page.keyboard.press("Enter");
  }
  await expect(heading).toBeVisible();
  await expect(page.getByLabel(text(language, "settings.name"))).not.toHaveValue("");
}

const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const save = (page: Page) => button(page, "Save changes").click();

// test/contract/settings.test.ts saves them on PostgreSQL too.
test("A-set-all A-set-next A-set-both A-set-whatsapp: the owner's words reach visitors on the next load, in both languages", async ({
  page,
  context,
}) => {
  const server = await startServer("sqlite");
  try {
    await asOwner(server);
    await openSettings(page, server);
    await expect(button(page, "Save changes")).toBeDisabled();
    await field(page, "Name of the site").fill("Casa Anil");
    await page.locator("input[type=file]").first().setInputFiles(portrait);
    await field(page, "Heading").fill("Walls, mostly");
    await field(page, "Heading in Portuguese").fill("");
    await expect(page.getByText("Missing: visitors see the English text.")).toBeVisible();
    await field(page, "Second paragraph").fill("");
    await field(page, "Second paragraph in Portuguese").fill("");
    await field(page, "Line above the works in Portuguese").fill("Mais de 600 clientes");
    await field(page, "Response time").fill("I answer within two days");
    await field(page, "Instagram").fill("@casa.anil");
    // A pasted number selects its country; a national number gets the country code.
    const country = field(page, "Country of the WhatsApp number");
    await field(page, "WhatsApp").fill("+55 11 96123-4567");
    await expect(country).toHaveValue("BR");
    await field(page, "WhatsApp").fill("912345678");
    await country.selectOption("Portugal (+351)");
    await field(page, "WhatsApp").blur();
    await expect(field(page, "WhatsApp")).toHaveValue("+351 912 345 678");
    await field(page, "Email for visitors").fill("ola@casa-anil.example");
    await field(page, "In force since").fill("2026-12-24");
    await field(page, "Utilização").fill("Servem para responder.\nMais nada.");
    await field(page, "Mail to").fill("ana@casa-anil.example\nrui@casa-anil.example");
    await field(page, "Webhook optional").fill("https://hooks.casa-anil.example/key");
    await page.getByRole("switch", { name: "Send visitors a thank-you mail" }).click();
    await expect(page.getByRole("img", { name: "Portrait" })).toBeVisible();
    await expect(button(page, "Save changes")).toBeEnabled();

    // The preview shows it as visitors will see it, before it is saved.
    await button(page, "Preview").click();
    const preview = page.getByRole("dialog", { name: "Preview" });
    await expect(preview.getByRole("heading", { name: "Walls, mostly" })).toBeVisible();
    await expect(preview.getByText("I answer within two days")).toBeVisible();
    await expect(preview.getByText("Mais nada.")).toBeVisible();
    await preview.getByRole("button", { name: "Portuguese" }).click();
    const borrowed = preview.getByRole("heading", { name: "Walls, mostly" });
    await expect(borrowed).toHaveAttribute("lang", "en");
    await expect(preview.getByRole("heading", { name: "Mais de 600 clientes" })).toBeVisible();
    await preview.getByRole("link", { name: "Política de Privacidade" }).click();
    await expect(preview).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(button(page, "Preview")).toBeFocused();

    await save(page);
    await expect(page.getByText("Settings saved")).toBeVisible();
    await expect(page.getByText("Everything is saved")).toBeVisible();
    // This tab shows it on its next page.
    await page.getByRole("navigation", { name: "Dashboard" }).getByText("Overview").click();
    await expect(page.getByRole("link", { name: "Casa Anil, home" })).toBeVisible();
    await page.goto(server.url + settingsPath);
    await expect(field(page, "WhatsApp")).toHaveValue("+351 912 345 678");
    await expect(country).toHaveValue("PT");
    await expect(field(page, "Mail to")).toHaveValue(
      "ana@casa-anil.example\nrui@casa-anil.example",
    );
    await expect(
      page.getByRole("switch", { name: "Send visitors a thank-you mail" }),
    ).toBeChecked();

    const visitor = await context.browser()!.newContext();
    const visit = await visitor.newPage();
    await visit.goto(server.url);
    await expect(visit).toHaveTitle("Casa Anil");
    await expect(visit.getByRole("heading", { name: "Walls, mostly" })).toBeVisible();
    await expect(visit.getByText("I answer within two days")).toBeVisible();
    const picture = visit.getByRole("img", { name: "Portrait of the artist" });
    await picture.scrollIntoViewIfNeeded();
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(0);
    await expect(visit.locator('a[href="https://wa.me/351912345678"]').first()).toBeVisible();
    for (const secret of ["rui@", "hooks.casa-anil"])
      expect(await visit.content()).not.toContain(secret);
    await visit.goto(`${server.url}/?lang=pt`);
    await expect(visit.getByRole("heading", { name: "Walls, mostly" })).toHaveAttribute(
      "lang",
      "en",
    );
    await visit.goto(`${server.url}/politica-privacidade`);
    await expect(visit.getByText("Texto em vigor desde 24/12/2026")).toBeVisible();
    await expect(visit.getByText("Mais nada.")).toBeVisible();
    await visitor.close();
  } finally {
    await page.close(); // an open page would send requests to the stopped server
    await server.stop();
  }
});

test("A-set-key A-set-lang: a message causes a mail in the chosen language and a webhook that the displayed key verifies", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const calls: { headers: IncomingHttpHeaders; body: string }[] = [];
  const receiver = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      calls.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  const mailServer = await startMailServer();
  const server = await startServer("sqlite", {
    env: { ...mailServer.env, ATELIE_WEBHOOK_PRIVATE: "on" },
  });
  try {
    await asOwner(server);
    await openSettings(page, server);
    const { port } = receiver.address() as AddressInfo;
    await field(page, "Webhook optional").fill(`http://127.0.0.1:${port}/key`);
    await expect(field(page, "Language of these mails")).toHaveValue("");
    await field(page, "Language of these mails").selectOption("Portuguese");
    await save(page);
    await expect(page.getByText("Settings saved")).toBeVisible();

    const group = page.getByRole("group", { name: "Signing key of the webhook" });
    await expect(group.getByText(/^whsec_/)).toHaveCount(0);
    await group.getByRole("button", { name: "Show the key" }).focus();
    await page.keyboard.press("Enter");
    const key = await group.getByText(/^whsec_/).innerText();
    await finishAnimations(page);
    await expectAccessible(page);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect(group.getByText("Copied")).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
    });
    await group.getByRole("button", { name: "Copy" }).click();
    await expect(group.getByText("It could not be copied.")).toBeVisible();
    await group.getByRole("button", { name: "Hide the key" }).click();
    await expect(group.getByText(/^whsec_/)).toHaveCount(0);
    await page.reload();
    await expect(field(page, "Language of these mails")).toHaveValue("pt");

    await asAnon(server).functions.invoke("submit-contact", {
      body: { name: "Inês", email: "ines@example.com", message: "Temos uma parede.", reason: "" },
    });
    // The account has no language: the default would be English.
    await expect
      .poll(() => mailServer.all().map(({ subject }) => subject))
      .toContainEqual(expect.stringContaining("mensagem de Inês"));
    await expect.poll(() => calls.length).toBe(1);
    const { headers, body } = calls[0]!;
    const mac = createHmac("sha256", Buffer.from(key.slice("whsec_".length), "base64"))
      .update(`${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`)
      .digest();
    const [version, given] = String(headers["webhook-signature"]).split(",");
    expect(version).toBe("v1");
    expect(timingSafeEqual(mac, Buffer.from(given!, "base64"))).toBe(true);
    expect(JSON.parse(body)).toMatchObject({ type: "contact_submission.created" });

    // Only the owner can read the key.
    const refusal = await asAnon(server).functions.invoke("contact-notices", {
      body: { action: "webhook-secret" },
    });
    expect(refusal.error?.context.status).toBe(403);
  } finally {
    await page.close();
    await server.stop();
    await mailServer.stop();
    await new Promise((done) => receiver.close(done));
  }
});

test.describe("on one site", () => {
  let server: Server;
  test.beforeAll(async ({ demoFolder }) => {
    server = await startServer("sqlite", { demo: demoFolder });
    await asOwner(server);
  });
  test.afterAll(() => server.stop());

  test("A-set-retention: the form says how many messages a retention removes, and the privacy page states the retention", async ({
    page,
  }) => {
    const service = asService(server);
    for (const days of [1, 400]) {
      const { error } = await service.from("contact_submissions").insert({
        name: "Inês",
        email: "ines@example.com",
        message: "Temos uma parede.",
        created_at: new Date(Date.now() - days * 864e5).toISOString(),
      });
      expect(error).toBeNull();
    }
    // A message of this age stays while its conversation goes on.
    const { data: answered } = await service
      .from("contact_submissions")
      .insert({
        name: "Rui",
        email: "rui@example.com",
        message: "Temos um teto.",
        created_at: new Date(Date.now() - 500 * 864e5).toISOString(),
      })
      .select("id")
      .single()
      .throwOnError();
    await service
      .from("contact_replies")
      .insert({ message_id: answered.id, author: "visitor", text: "E uma escada." })
      .throwOnError();
    await openSettings(page, server);
    const months = field(page, "Messages are kept");
    await expect(months.getByRole("option", { selected: true })).toHaveText(
      "Until you delete them",
    );
    const counted = page.waitForResponse(
      (response) =>
        response.request().method() === "HEAD" && response.url().includes("created_at=lte."),
    );
    await months.selectOption("24 months");
    await expect(button(page, "Save changes")).toBeEnabled();
    await counted;
    await expect(page.getByText(/Messages that are removed/)).toBeHidden();
    await months.selectOption("12 months");
    await expect(page.getByText("within an hour of saving: 1 at most.")).toBeVisible();
    await save(page);
    await expect(page.getByText("Everything is saved")).toBeVisible();
    await expect(page.getByText(/Messages that are removed/)).toBeHidden();
    await page.reload();
    await expect(months.getByRole("option", { selected: true })).toHaveText("12 months");
    const line =
      "Uma mensagem é eliminada automaticamente 12 meses depois do último texto da conversa; se tratar de uma encomenda aceite ou em curso, só depois de esta terminar.";
    await button(page, "Preview").click();
    await expect(page.getByRole("dialog", { name: "Preview" }).getByText(line)).toBeVisible();
    await page.goto(`${server.url}/politica-privacidade`);
    await expect(page.getByText(line)).toBeVisible();
    // Back to keeping them: no line is shown, and other settings are unchanged.
    await openSettings(page, server);
    await months.selectOption("Until you delete them");
    await save(page);
    await expect(page.getByText("Everything is saved")).toBeVisible();
    await page.goto(`${server.url}/politica-privacidade`);
    await expect(page.getByText("Política de Privacidade").first()).toBeVisible();
    await expect(page.getByText(line)).toBeHidden();
  });

  test("A-set-two: of two tabs, the second save reports the first, and can overwrite it or load it", async ({
    page,
    context,
  }) => {
    await openSettings(page, server);
    const second = await context.newPage();
    await openSettings(second, server);
    const name = await field(page, "Name of the site").inputValue();
    await field(page, "Name of the site").fill("First tab");
    await save(page);
    await expect(page.getByText("Settings saved")).toBeVisible();

    await field(second, "Facebook").fill("second.tab");
    await save(second);
    const conflict = second.getByRole("alertdialog", { name: "Changed in the meantime" });
    await expect(conflict).toBeVisible();
    await expect(conflict.getByRole("button", { name: "Keep editing" })).toBeFocused();
    await second.keyboard.press("Enter");
    await expect(field(second, "Facebook")).toHaveValue("second.tab");
    await save(second);
    await conflict.getByRole("button", { name: "Save my changes on top of them" }).click();
    await expect(second.getByText("Settings saved")).toBeVisible();
    // The changes of the first tab remain.
    await expect(field(second, "Name of the site")).toHaveValue("First tab");

    await field(page, "Name of the site").fill("Lost");
    await save(page);
    await page.getByRole("button", { name: "Drop my changes and show the newer ones" }).click();
    await expect(field(page, "Facebook")).toHaveValue("second.tab");
    await expect(field(page, "Name of the site")).toHaveValue("First tab");
    await field(page, "Name of the site").fill(name);
    await field(page, "Facebook").fill("alvor");
    await save(page);
    await expect(page.getByText("Everything is saved")).toBeVisible();
  });

  test("A-draft-1: unsaved settings survive a reload and a killed tab", async ({
    page,
    context,
  }) => {
    await openSettings(page, server);
    const instagram = field(page, "Instagram");
    const before = await instagram.inputValue();
    await instagram.fill("half.typed");
    await page.reload();
    await expect(instagram).toHaveValue("half.typed");
    await expect(page.getByText(/^Draft of \d\d:\d\d restored/)).toBeVisible();

    await instagram.fill("typed.before.the.crash");
    const next = await context.newPage(); // a page in another process, which stays open
    const crashed = page.waitForEvent("crash");
    await page.goto("chrome://crash").catch(() => undefined); // ends the page's process
    await crashed;
    await openSettings(next, server);
    await expect(field(next, "Instagram")).toHaveValue("typed.before.the.crash");
    await next.getByRole("button", { name: "Discard draft" }).click();
    await expect(field(next, "Instagram")).toHaveValue(before);
    await next.reload();
    await expect(field(next, "Instagram")).toHaveValue(before);
  });

  test("A-set-page A-set-leave: every way of leaving the page asks before changes are lost", async ({
    page,
  }) => {
    await openSettings(page, server);
    const tabs = page.getByRole("navigation", { name: "Dashboard" });
    // The history has pages of the site before and after this one.
    for (const tab of ["Overview", "Settings", "Reviews"]) {
      await tabs.getByText(tab).click();
      await expect(page.getByRole("heading", { level: 1, name: tab })).toBeVisible();
    }
    await page.goBack();
    await expect(field(page, "Name of the site")).not.toHaveValue("");
    await field(page, "Name of the site").fill("Not saved");
    const ask = page.getByRole("alertdialog", { name: "Unsaved changes" });
    const keep = ask.getByRole("button", { name: "Keep editing" });
    const bar = page.getByRole("banner");
    const waysOut: Record<string, () => Promise<unknown>> = {
      "a tab": () => tabs.getByText("Products").click(),
      "a button that navigates": () => bar.getByRole("button", { name: "Let's Talk" }).click(),
      // history.back() instead of goBack(), which would wait for a navigation that is blocked.
      back: () => page.evaluate(() => history.back()),
      forward: () => page.evaluate(() => history.forward()),
      "signing out": () => bar.getByRole("button", { name: "Sign Out" }).click(),
    };
    for (const [name, leave] of Object.entries(waysOut)) {
      await test.step(name, async () => {
        await leave();
        await expect(keep).toBeFocused();
        await page.keyboard.press("Escape");
        await expect(ask).toHaveCount(0);
        await expect(page).toHaveURL(/\/admin\/settings$/);
        await expect(field(page, "Name of the site")).toHaveValue("Not saved");
      });
    }
    let wasAsked = false;
    page.once("dialog", (dialog) => {
      wasAsked = dialog.type() === "beforeunload";
      void dialog.dismiss();
    });
    await page.close({ runBeforeUnload: true });
    await expect.poll(() => wasAsked).toBe(true);
    await page.goBack();
    await ask.getByRole("button", { name: "Leave without saving" }).click();
    await expect(page).toHaveURL(/\/admin$/);
    await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
    // The history is unchanged.
    await page.goForward();
    await expect(page.getByRole("heading", { level: 1, name: "Settings" })).toBeVisible();
  });

  test("A-set-leave: signing out after the question ends the session", async ({ page }) => {
    await openSettings(page, server);
    await field(page, "Name of the site").fill("Not saved");
    await page.getByRole("banner").getByRole("button", { name: "Sign Out" }).click();
    const toasts = await recordToasts(page);
    await button(page, "Leave without saving").click();
    await expect(page).toHaveURL(`${server.url}/`);
    await expect.poll(toasts).toContain("Signed out successfully");
  });

  test("A-set-rules A-set-fail: an invalid value gets its error beside its field, and nothing is lost", async ({
    page,
  }) => {
    await openSettings(page, server);
    await field(page, "Name of the site").fill(" ");
    await field(page, "Instagram").fill("javascript:alert(1)");
    await field(page, "Country of the WhatsApp number").selectOption("Choose the country");
    await field(page, "WhatsApp").fill("912 345 678");
    await field(page, "Email for visitors").fill("nobody");
    await field(page, "Mail to").fill("nobody");
    await field(page, "Webhook optional").fill("http://hooks.example/");
    await save(page);
    await expect(field(page, "Name of the site")).toBeFocused();
    for (const message of [
      "The site needs a name",
      "Please enter a name, or an address that begins with https://",
      "Choose the country of this number, or begin it with + and the country code",
      "Please enter a valid email address",
      "One of these is no email address",
      "Please enter an address that begins with https://",
    ])
      await expect(page.getByText(message, { exact: true })).toBeVisible();
    const addresses = Array.from({ length: 11 }, (_, n) => `a${n}@example.com`);
    await field(page, "Mail to").fill(addresses.join("\n"));
    await expect(page.getByText("Ten addresses at most", { exact: true })).toBeVisible();
    await field(page, "Heading").fill("é".repeat(201));
    await field(page, "In force since").fill("");
    await save(page);
    for (const message of ["This text is too long", "Please enter a date"])
      await expect(page.getByText(message, { exact: true })).toBeVisible();

    // The server checks the rules too, and its errors are shown at their fields.
    await openSettings(page, server);
    await page.getByRole("button", { name: "Discard draft" }).click();
    await page.route("**/rpc/save_site_settings", (route) =>
      route.fulfill({
        status: 400,
        json: {
          code: "22023",
          details: "site.texts.pt.about.title",
          message: "refused",
          hint: null,
        },
      }),
    );
    await field(page, "Heading in Portuguese").fill("Paredes");
    await save(page);
    await expect(page.getByText("There was an error saving the settings.")).toBeVisible();
    await expect(field(page, "Heading in Portuguese")).toBeFocused();
    await expect(page.getByText("This cannot be saved as it is")).toBeVisible();

    // Without a network.
    await page.unroute("**/rpc/save_site_settings");
    await page.context().setOffline(true);
    await save(page);
    await expect(page.getByText("The service cannot be reached.").last()).toBeVisible();
    await expect(field(page, "Heading in Portuguese")).toHaveValue("Paredes");
    await page.context().setOffline(false);
  });

  test("invalid addresses get errors at their fields, and a test mail shows its result (pt)", async ({
    page,
  }) => {
    const language = "pt";
    const say = (key: Parameters<typeof text>[1]) =>
      page.getByText(text(language, key), { exact: true });
    await openSettings(page, server, language);
    const webhook = page.locator("input[name=noticeWebhook]");
    const saving = button(page, text(language, "common.saveChanges"));
    for (const [unusable, key] of [
      ["https://10.0.0.1/in", "settings.error.webhookPrivate"],
      ["https://127.1/in", "settings.error.webhookHost"],
    ] as const) {
      await webhook.fill(unusable);
      await saving.click();
      await expect(say(key).first()).toBeVisible(); // and in the toast
      await expect(webhook).toBeFocused();
    }
    await webhook.fill("");
    await page.locator("input[type=file]").first().setInputFiles(portrait);
    await page.route("**/rpc/save_site_settings", (route) =>
      route.fulfill({
        status: 400,
        json: {
          code: "22023",
          details: "site.portrait",
          message: "no",
          hint: "portrait_unknown",
        },
      }),
    );
    await expect(saving).toBeEnabled();
    await saving.click();
    await expect(say("settings.error.portrait").first()).toBeVisible();

    // No mail server is configured, and both the settings and the overview say so.
    await expect(say("mail.none.title")).toBeVisible();
    const kept = text(language, "mail.test.kept").replace("{to}", ownerEmail);
    await button(page, text(language, "mail.test.send")).click();
    await expect(page.getByText(kept, { exact: true })).toBeVisible();
    await expectAccessible(page);
    await openSettings(page, server, language); // unsaved changes stay in the draft
    await page.goto(server.url + inLanguage(language, "/admin"));
    await expect(say("mail.none.title")).toBeVisible();
    await expectAccessible(page);
  });

  test("A-set-fail A-set-draft: after the role was removed, saving shows an error and changes nothing", async ({
    page,
  }) => {
    // Without the role these requests would be refused, and the page would be left before the test saves.
    const loaded = ["calendar-feed", "mail-test"].map((name) =>
      page.waitForResponse((response) => response.url().endsWith(`/functions/v1/${name}`)),
    );
    await openSettings(page, server);
    await Promise.all(loaded);
    const service = asService(server);
    const { data } = await service.auth.admin.listUsers();
    const { id } = data.users.find(({ email }) => email === ownerEmail)!;
    expect((await service.from("user_roles").delete().eq("user_id", id)).error).toBeNull();
    try {
      await field(page, "Name of the site").fill("Not mine any more");
      await save(page);
      await expect(page.getByText("permission denied for the site's settings")).toBeVisible();
      expect(await (await fetch(server.url)).text()).not.toContain("Not mine any more");
      await expect(page).toHaveURL(`${server.url}/`);
    } finally {
      await service.from("user_roles").insert({ user_id: id, role: "admin" });
    }
    // When the role is back, so are the typed texts.
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    const bar = page.getByRole("banner");
    await bar.getByRole("link", { name: "Dashboard" }).click();
    await page.getByRole("navigation", { name: "Dashboard" }).getByText("Settings").click();
    await expect(page.getByText(/^Draft of \d\d:\d\d restored/)).toBeVisible();
    await expect(field(page, "Name of the site")).toHaveValue("Not mine any more");
    // A discarded draft does not return.
    await page.getByRole("navigation", { name: "Dashboard" }).getByText("Overview").click();
    await button(page, "Leave without saving").click();
    await page.getByRole("navigation", { name: "Dashboard" }).getByText("Settings").click();
    await expect(field(page, "Name of the site")).not.toHaveValue("");
    await expect(field(page, "Name of the site")).not.toHaveValue("Not mine any more");
  });

  for (const language of languages) {
    test(`A-set-both A-set-all-can: axe: the settings, their errors and dialogs, in ${repetition(language)}, also on a phone`, async ({
      page,
    }) => {
      const t = (key: Parameters<typeof text>[1]) => text(language, key);
      // Signs in without the form. Its toast could be behind a dialog's overlay at any time, where it has less
      // contrast.
      const owner = { email: ownerEmail, password: ownerPassword };
      await signInAt(page, { ...server, owner }, settingsPath, language);
      await openSettings(page, server, language);
      const english = t("settings.text.title");
      const portuguese = text(language, "form.inPortuguese", { label: english });
      await field(page, portuguese).fill("");
      await field(page, t("settings.name")).fill("");
      await button(page, t("common.saveChanges")).click();
      await expect(page.getByText(t("settings.error.name"))).toBeVisible();
      await expectAccessibleInBothSchemes(page);
      await button(page, t("settings.preview")).click();
      await expect(page.getByRole("dialog")).toBeVisible();
      await expectAccessibleInBothSchemes(page);
      await page.setViewportSize({ width: 390, height: 844 });
      await expectAccessibleInBothSchemes(page);
      await page.keyboard.press("Escape");
      await expect(page.getByRole("dialog")).toHaveCount(0);
      // A phone shows the fields of both languages, and one press copies a text into the other field.
      const copy = text(language, "form.copyToPortuguese", { label: english });
      await expect(field(page, portuguese)).toHaveAccessibleDescription(t("settings.missing.en"));
      await button(page, copy).click();
      await expect(field(page, portuguese)).toHaveValue(await field(page, english).inputValue());
      await expect(field(page, portuguese)).toBeFocused();
      await expectAccessibleInBothSchemes(page);
      await expectNoSidewaysScroll(page);
      await page.getByRole("link", { name: t("nav.products"), exact: true }).click();
      await expect(page.getByRole("alertdialog")).toBeVisible();
      await expectAccessibleInBothSchemes(page);
      await page.keyboard.press("Escape");

      // Another session makes a conflict.
      const other = await asOwnerAgain(server);
      const { data } = await other.rpc("get_site_settings");
      const { version, settings } = data as {
        version: string;
        settings: { site: { facebook: string } };
      };
      const facebook = settings.site.facebook === "anil" ? "alvor" : "anil";
      const saved = await other.rpc("save_site_settings", {
        version,
        settings: { site: { facebook } },
      });
      expect(saved.error).toBeNull();
      await field(page, t("settings.name")).fill("Alvor");
      await button(page, t("common.saveChanges")).click();
      await expect(
        page.getByRole("alertdialog", { name: t("settings.conflict.title") }),
      ).toBeVisible();
      await expectAccessibleInBothSchemes(page);
    });
  }

  test("A-set-all-can: by keyboard from the tabs to a saved change, at 390 px", async ({
    page,
  }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await openSettings(page, server);
    const name = field(page, "Name of the site");
    const before = await name.inputValue();
    await page.locator("main").focus();
    const tabTo = async (target: ReturnType<typeof field>) => {
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press("Tab");
        if (await target.evaluate((element) => element === document.activeElement)) {
          // The sticky footer does not cover the focused element (WCAG 2.4.11).
          const [box, foot] = [
            await target.boundingBox(),
            await page.locator("[data-sticky-foot]").boundingBox(),
          ];
          const inFoot = await target.evaluate(
            (element) => element.closest("[data-sticky-foot]") !== null,
          );
          if (!inFoot) expect(box!.y).toBeLessThan(foot!.y);
          return;
        }
      }
      throw new Error("Tab does not reach the element");
    };
    await tabTo(name);
    await page.keyboard.press("End");
    await page.keyboard.type(" e mar");
    await tabTo(field(page, "Facebook"));
    await tabTo(field(page, "Mail to"));
    await tabTo(button(page, "Save changes"));
    await page.keyboard.press("Enter");
    await expect(page.getByText("Settings saved")).toBeVisible();
    await name.fill(before);
    await page.keyboard.press("Enter");
    await expect(page.getByText("Everything is saved")).toBeVisible();
  });
});

/** Signs the same owner in on another device. */
async function asOwnerAgain(server: Server) {
  const client = asAnon(server);
  const { error } = await client.auth.signInWithPassword({
    email: ownerEmail,
    password: ownerPassword,
  });
  if (error) throw error;
  return client;
}
