// A message that its visitor follows at a private link, seen by visitor and owner: with scripts and a mail server, and
// without both, in both languages.
import { brotliCompressSync } from "node:zlib";

import type { Page, Request, Response } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { startMailServer } from "../harness/mail-server.ts";
import type { Server } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import {
  askAboutWork,
  askForCommission,
  findWork,
  owner,
  sendMessage,
  startWithLinks,
  visitor,
} from "./conversations.ts";
import { checkPage, expect, expectAccessible, expectNoSidewaysScroll, test } from "./fixtures.ts";
import { inLanguage, type Language, serverText, text } from "./texts.ts";

test.use({
  contextOptions: { reducedMotion: "reduce" },
  allowedConsole: [/status of 404 .*\/enquiry\/|ERR_INTERNET_DISCONNECTED/], // the page of an erased message; a lost network
});

const question = "Uma parede de 6 × 3 metros, em azul.\nQuanto custa?";

/** Opens the visitor's message in the admin area. */
async function openMessage(page: Page, server: Server, language: Language): Promise<void> {
  await signInAt(page, { ...server, owner }, "/admin/contact-messages", language);
  const read = page.waitForResponse((response) => response.request().method() === "PATCH");
  await page.getByRole("button", { name: new RegExp(visitor.name) }).click();
  expect((await read).ok()).toBe(true);
  await expect(page.getByText(question.split("\n")[1]!).last()).toBeVisible();
}

async function reply(page: Page, language: Language, answer: string): Promise<void> {
  await page.getByLabel(text(language, "messages.replyLabel", { name: visitor.name })).fill(answer);
  await page.getByRole("button", { name: text(language, "messages.sendReply") }).click();
}

test("E-page-1 E-reply-2 AM-reply-1 AM-reply-2 S2-contact-link: visitor and owner converse by mail and private link, in en", async ({
  browser,
  page: client,
  demoFolder,
}) => {
  const language = "en";
  const mailServer = await startMailServer();
  const server = await startWithLinks({ demo: demoFolder, mailServer });
  const context = await browser.newContext({ reducedMotion: "reduce" });
  try {
    const { id, title } = await findWork(server);
    await askAboutWork(client, server, language, id);
    const link = await sendMessage(client, language, question);
    await mailServer.next(owner.email); // the notice

    await client.goto(link, { waitUntil: "load" });
    await expect(client.locator("html")).toHaveAttribute("lang", language);
    await expect(client.getByText(serverText(language, "enquiry.state.received"))).toBeVisible();
    await expect(client.getByRole("link", { name: title })).toBeVisible();

    const desk = await context.newPage();
    await openMessage(desk, server, language);
    await client.reload();
    await expect(client.getByText(serverText(language, "enquiry.state.read"))).toBeVisible();

    await reply(desk, language, "Claro! Em maio.");
    const mail = await mailServer.next(visitor.email);
    expect(mail.text).toContain(serverText(language, "mail.contact_reply.title"));
    expect(mail.text).toContain("> Claro! Em maio.");
    expect(mail.text).toContain(link);
    const conversation = desk.getByRole("region", {
      name: text(language, "messages.conversation"),
    });
    await expect(conversation.getByRole("listitem").getByText("Claro! Em maio.")).toBeVisible();
    await expect(
      conversation.getByText(text(language, "messages.delivery.sent"), { exact: true }),
    ).toBeVisible();
    await expectAccessible(desk);

    await client.goto(link, { waitUntil: "load" });
    await expect(client.getByText(serverText(language, "enquiry.state.answered"))).toBeVisible();
    await expect(client.getByText("Claro! Em maio.")).toBeVisible();
    await checkPage(client, `enquiry-answered-${language}`);
    await client.getByLabel(serverText(language, "enquiry.reply")).fill("Combinado: maio.");
    await client.getByRole("button", { name: serverText(language, "enquiry.send") }).click();
    await expect(client.getByText("Combinado: maio.")).toBeVisible();
    await expect(client).toHaveURL(`${link}#last`);

    await expect(conversation.getByText("Combinado: maio.")).toBeVisible(); // live
    const notice = await mailServer.next(owner.email);
    expect(notice.text).toContain("> Combinado: maio.");

    // A new link makes the previous one invalid.
    await conversation.getByRole("button", { name: text(language, "messages.linkRenew") }).click();
    await expect(conversation.getByText(text(language, "messages.linkRenewed"))).toBeVisible();
    expect((await client.goto(link, { waitUntil: "load" }))!.status()).toBe(404);
  } finally {
    await client.goto("about:blank");
    await context.close();
    await server.stop();
    await mailServer.stop();
  }
});

test("AM-reply-1: a stored reply leaves the form although the network is lost while the messages are fetched again", async ({
  page,
  context,
}) => {
  const server = await startWithLinks();
  try {
    await askForCommission(server, "en", question);
    await openMessage(page, server, "en");
    let sent = false;
    await page.route("**/functions/v1/contact-reply", async (route) => {
      if (!sent) {
        sent = route.request().postData()!.includes("Em maio.");
        return route.continue();
      }
      await context.setOffline(true);
      return route.abort("internetdisconnected");
    });
    await reply(page, "en", "Claro! Em maio.");
    const field = page.getByLabel(text("en", "messages.replyLabel", { name: visitor.name }));
    await expect(field).toHaveValue("");
    expect(await page.evaluate(() => navigator.onLine)).toBe(false);
    await page.unrouteAll({ behavior: "wait" });
    await context.setOffline(false);
    const conversation = page.getByRole("region", { name: text("en", "messages.conversation") });
    await expect(conversation.getByRole("listitem").getByText("Claro! Em maio.")).toBeVisible();
  } finally {
    await page.goto("about:blank");
    await server.stop();
  }
});

test("E-weight-1 E-secret-1: the page of a private link loads less than 40 kB, nothing from other sites, and sends no referrer", async ({
  page,
  demoFolder,
}) => {
  const server = await startWithLinks({ demo: demoFolder });
  try {
    const { id } = await findWork(server);
    const { data } = await asAnon(server).functions.invoke("submit-contact", {
      body: { ...visitor, message: question, reason: "", artwork_id: id, follow: true },
    });
    const link = (data as { enquiry_url: string }).enquiry_url;
    const requested = new Map<string, Promise<Buffer>>();
    const requests: Request[] = [];
    page.on("request", (request) => requests.push(request));
    const measure = (response: Response) => requested.set(response.url(), response.body());
    page.on("response", measure);
    await page.goto(link, { waitUntil: "networkidle" });
    page.off("response", measure);
    let total = 0;
    for (const [url, body] of requested) {
      expect(new URL(url).origin).toBe(server.url);
      const bytes = await body;
      const compressed = /\.(woff2)$|\/render\//.test(new URL(url).pathname)
        ? bytes.length
        : brotliCompressSync(bytes).length;
      total += compressed;
    }
    expect([...requested.keys()].some((url) => url.includes("/render/"))).toBe(true);
    expect(total).toBeLessThan(40_000);
    expect(await page.locator("script").count()).toBe(0);
    const leaving = page.waitForRequest((request) => new URL(request.url()).pathname === "/");
    await page.getByRole("link", { name: serverText("en", "page.back") }).click();
    expect(await (await leaving).headerValue("referer")).toBeNull();
    const referrers = await Promise.all(requests.map((request) => request.headerValue("referer")));
    expect(referrers.filter((sent) => sent?.includes("/enquiry/"))).toEqual([]);
    expect(server.log()).not.toContain(link.split("/").at(-1)!);
  } finally {
    await page.goto("about:blank");
    await server.stop();
  }
});

test.describe("without scripts and without mail", () => {
  test.use({ viewport: { width: 320, height: 700 } });

  test("E-page-2 E-reply-1 E-erase-1 AM-reply-1: visitor and owner converse by the private link only, in pt", async ({
    browser,
    page: desk,
    demoFolder,
  }) => {
    const language = "pt";
    const server = await startWithLinks({ demo: demoFolder });
    const context = await browser.newContext({
      javaScriptEnabled: false,
      viewport: { width: 320, height: 700 },
    });
    try {
      const client = await context.newPage();
      await client.goto(server.url + inLanguage(language, "/functions/v1/submit-contact"));
      const link = await sendMessage(client, language, question);
      await expectNoSidewaysScroll(client); // of the confirmation with the link
      await client.goto(link);
      await expect(client.getByText(question.split("\n")[1]!)).toBeVisible();

      await desk.setViewportSize({ width: 1440, height: 900 });
      await openMessage(desk, server, language);
      await expect(desk.getByText(text(language, "messages.replyAtLink"))).toBeVisible();
      await reply(desk, language, "Claro! Em maio.");
      const conversation = desk.getByRole("region", {
        name: text(language, "messages.conversation"),
      });
      await expect(
        conversation.getByText(text(language, "messages.delivery.none"), { exact: true }),
      ).toBeVisible();

      await client.reload();
      await expect(client.getByText("Claro! Em maio.")).toBeVisible();
      await client
        .getByRole("link", { name: serverText(language, "enquiry.otherLanguage") })
        .click();
      const other = "en";
      await expect(client.locator("html")).toHaveAttribute("lang", other);
      await client.getByRole("button", { name: serverText(other, "enquiry.send") }).click();
      await expect(client.getByRole("alert")).toHaveText(serverText(other, "enquiry.error.empty"));
      await client.getByLabel(serverText(other, "enquiry.reply")).fill("Combinado.");
      await client.getByRole("button", { name: serverText(other, "enquiry.send") }).click();
      await expect(client.getByText("Combinado.")).toBeVisible();
      await expect(conversation.getByText("Combinado.")).toBeVisible(); // live
      await expectNoSidewaysScroll(client);

      await client
        .getByRole("button", { name: serverText(other, "enquiry.withdraw.action") })
        .click();
      await expect(client.getByRole("heading", { level: 1 })).toHaveText(
        serverText(other, "enquiry.erase.title"),
      );
      await client.getByRole("link", { name: serverText(other, "enquiry.erase.cancel") }).click();
      await expect(client.getByText("Combinado.")).toBeVisible();
      await client
        .getByRole("button", { name: serverText(other, "enquiry.withdraw.action") })
        .click();
      await client
        .getByRole("button", { name: serverText(other, "enquiry.erase.confirm") })
        .click();
      await expect(client.getByRole("heading", { level: 1 })).toHaveText(
        serverText(other, "enquiry.erased.title"),
      );
      await expect(conversation).toHaveCount(0); // live
      expect((await client.goto(link))!.status()).toBe(404);
      const { data } = await asService(server)
        .from("contact_submissions")
        .select("id")
        .eq("name", visitor.name);
      expect(data).toEqual([]);
    } finally {
      await desk.goto("about:blank");
      await context.close();
      await server.stop();
    }
  });
});
