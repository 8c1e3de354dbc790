// A commission from the enquiry to the finished work, seen by visitor and owner: with scripts and a mail server, and
// without both, in both languages. On the home page, visitors see that the slot is taken and later free again.
import type { Page } from "@playwright/test";

import { asService } from "../harness/clients.ts";
import { type MailServer, startMailServer } from "../harness/mail-server.ts";
import type { Server } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { askForCommission, owner, startWithLinks, visitor } from "./conversations.ts";
import { checkPage, expect, expectAccessible, test } from "./fixtures.ts";
import { inLanguage, type Language, serverText, text } from "./texts.ts";

test.use({
  contextOptions: { reducedMotion: "reduce" },
  allowedConsole: [/status of (400|409) .*\/enquiry\//], // rejected answers
});

const question = "Um retrato da nossa casa, a aguarela.";
const terms = { en: "Half in advance.\nThe rest when it hangs.", pt: "Metade adiantada." };

/** Starts a server with an owner, private links, and open commissions with one slot. */
function start(demo: string, mailServer?: MailServer): Promise<Server> {
  const texts = { en: { terms: terms.en }, pt: { terms: terms.pt } };
  return startWithLinks({
    demo,
    mailServer,
    site: { commissions: { state: "open", slots: 1, texts } },
  });
}

/** Returns the block about commissions on the home page. */
const block = (page: Page, language: Language, state: "open" | "closed") =>
  page.getByRole("region", { name: text(language, `commissions.${state}`) });

// whole-commission.spec.ts goes through both ways in both languages.
for (const [language, scripts] of [
  ["en", true],
  ["pt", false],
] as const)
  test(`E-offer-1 E-offer-2 E-stage-1 AM-commission-1 AM-commission-2 AM-commission-3 S2-commission-3: an offer is made and accepted, and the work is finished, in ${language}, ${scripts ? "by mail" : "without scripts and mail"}`, async ({
    browser,
    page: desk,
    demoFolder,
  }) => {
    const mailServer = scripts ? await startMailServer() : undefined;
    const server = await start(demoFolder, mailServer);
    const context = await browser.newContext({
      javaScriptEnabled: scripts,
      reducedMotion: "reduce",
      viewport: { width: 390, height: 844 },
    });
    try {
      const client = await context.newPage();
      const home = server.url + inLanguage(language, "/");
      const free = text(language, "commissions.free1");
      await client.goto(`${home}#contact`);
      await expect(block(client, language, "open")).toContainText(free);

      const { link } = await askForCommission(server, language, question);
      await mailServer?.next(owner.email); // the notice
      await desk.setViewportSize({ width: 1440, height: 900 });
      await signInAt(desk, { ...server, owner }, "/admin/contact-messages", language);
      await desk.getByRole("button", { name: new RegExp(visitor.name) }).click();
      const stage = desk.getByRole("combobox", { name: text(language, "commission.stage") });
      await expect(stage).toHaveValue("");

      // The owner makes the offer by keyboard.
      const make = desk.getByRole("button", { name: text(language, "commission.makeOffer") });
      await make.focus();
      await desk.keyboard.press("Enter");
      await expectAccessible(desk);
      await desk
        .getByLabel(text(language, "commission.offerText"))
        .fill("Uma aguarela de 40 × 50 cm.\nSem moldura.");
      await desk.getByRole("textbox", { name: text(language, "commission.price") }).fill("300 €");
      await desk.getByLabel(text(language, "commission.deposit")).fill("100 €");
      await desk.getByLabel(text(language, "commission.promised")).fill("2099-06-01");
      await desk.getByLabel(text(language, "commission.expires")).fill("2099-03-20");
      if (process.env.SCREENSHOTS)
        await desk.screenshot({
          path: `${process.env.SCREENSHOTS}/offer-form-${language}-1440.png`,
          fullPage: true,
        });
      await desk.getByRole("button", { name: text(language, "commission.sendOffer") }).focus();
      await desk.keyboard.press("Enter");
      const offers = desk.getByRole("list", { name: text(language, "commission.offers") });
      await expect(offers.getByText(text(language, "commission.offer.open"))).toBeVisible();
      await expect(stage).toHaveValue("offer");
      if (mailServer) {
        const mail = await mailServer.next(visitor.email);
        expect(mail.text).toContain(serverText(language, "mail.contact_offer.title"));
        expect(mail.text).toContain("> Sem moldura.");
        expect(mail.text).toContain(`${serverText(language, "mail.detail.price")}: 300 €`);
        expect(mail.text).toContain(link);
      }

      await client.goto(link, { waitUntil: "load" });
      const offer = client.getByRole("region", {
        name: serverText(language, "enquiry.offer.title"),
      });
      await expect(offer).toContainText("Sem moldura.");
      await expect(offer).toContainText("300 €");
      await expect(offer).toContainText("100 €");
      await expect(offer).toContainText(terms[language].split("\n")[0]!);
      if (scripts) await checkPage(client, `offer-open-${language}`);
      await offer
        .getByRole("button", { name: serverText(language, "enquiry.offer.accept") })
        .click();
      await expect(client.getByRole("alert")).toHaveText(
        serverText(language, "enquiry.offer.error.name"),
      );
      await offer.getByLabel(serverText(language, "enquiry.offer.name")).fill("Inês Maria Prado");
      if (scripts) await checkPage(client, `offer-refused-${language}`);
      await offer
        .getByRole("button", { name: serverText(language, "enquiry.offer.accept") })
        .click();
      await expect(client).toHaveURL(`${link}#offer`);
      await expect(offer).toContainText("Inês Maria Prado");
      await expect(offer.getByRole("button")).toHaveCount(0);
      await expect(client.getByText(serverText(language, "enquiry.stage.accepted"))).toBeVisible();
      await expect(client.getByText(serverText(language, "enquiry.promised"))).toBeVisible();
      if (scripts) await checkPage(client, `offer-accepted-${language}`);

      await expect(stage).toHaveValue("accepted"); // live
      await expect(offers).toContainText("Inês Maria Prado");
      const conversation = desk.getByRole("region", {
        name: text(language, "messages.conversation"),
      });
      await expect(conversation).toContainText(text(language, "messages.kind.answer"));
      if (mailServer) {
        const notice = await mailServer.next(owner.email);
        expect(notice.text).toContain("Inês Maria Prado");
      }
      await client.goto(`${home}#contact`);
      await expect(block(client, language, "closed")).toBeVisible();
      await expect(client.getByText(free)).toHaveCount(0);

      await stage.selectOption("in_progress");
      await expect(stage).toHaveValue("in_progress");
      await desk.getByRole("button", { name: text(language, "commission.writeProgress") }).click();
      await desk
        .getByLabel(text(language, "commission.progressText"), { exact: true })
        .fill("A primeira camada secou.");
      await desk.getByRole("button", { name: text(language, "commission.sendProgress") }).click();
      await expect(conversation.getByText("A primeira camada secou.")).toBeVisible();
      await desk.getByLabel(text(language, "commission.promised")).fill("2099-07-01");
      await desk.getByRole("button", { name: text(language, "commission.savePromised") }).click();
      await expect(
        desk.getByRole("button", { name: text(language, "commission.savePromised") }),
      ).toHaveCount(0);
      if (scripts) await checkPage(desk, `offer-desk-${language}`);
      if (mailServer) {
        const mail = await mailServer.next(visitor.email);
        expect(mail.text).toContain(serverText(language, "mail.contact_progress.title"));
        expect(mail.text).toContain("> A primeira camada secou.");
      }
      await client.goto(link, { waitUntil: "load" });
      await expect(client.getByText("A primeira camada secou.")).toBeVisible();
      await expect(
        client.getByText(`${serverText(language, "enquiry.from.progress")} · `),
      ).toBeVisible();
      await expect(
        client.getByText(serverText(language, "enquiry.stage.in_progress")),
      ).toBeVisible();
      await expect(client.getByText("2099").first()).toBeVisible();

      await stage.selectOption("finished");
      await expect(stage).toHaveValue("finished");
      await client.reload();
      await expect(client.getByText(serverText(language, "enquiry.stage.finished"))).toBeVisible();
      await client.goto(`${home}#contact`);
      await expect(block(client, language, "open")).toContainText(free);
    } finally {
      await desk.goto("about:blank");
      await context.close();
      await server.stop();
      await mailServer?.stop();
    }
  });

test("E-offer-1: an offer can be declined without a name", async ({ page, demoFolder }) => {
  const server = await start(demoFolder);
  try {
    const { link, id } = await askForCommission(server, "en", question);
    const made = await asService(server).functions.invoke("commission", {
      body: { action: "offer", message_id: id, text: "A watercolour", price: "300 €" },
    });
    if (made.error) throw made.error;
    await page.goto(link);
    await page.getByRole("button", { name: serverText("en", "enquiry.offer.decline") }).click();
    await expect(page.getByText(/^Declined on /)).toBeVisible();
    await expect(page.getByText(serverText("en", "enquiry.stage.declined"))).toBeVisible();
  } finally {
    await page.goto("about:blank");
    await server.stop();
  }
});
