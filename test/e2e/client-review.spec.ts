// A review of a finished commission, from both sides and in both languages: with a mail server and scripts, and without both. Asked for,
// written at the private link with a picture, approved, and shown on the home page with its mark.
import type { Page } from "@playwright/test";

import en from "../../internal/i18n/en.json" with { type: "json" };
import pt from "../../internal/i18n/pt.json" with { type: "json" };
import { asAnon, asService } from "../harness/clients.ts";
import { type Post, startPost } from "../harness/post.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import {
  expect,
  expectAccessible,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  makeJpeg,
  test,
} from "./fixtures.ts";
import { inLanguage, type Language, languages, text } from "./texts.ts";

test.use({
  contextOptions: { reducedMotion: "reduce" },
  allowedConsole: [/status of (400|409|415) .*\/enquiry\//], // refused forms
});

const owner = { email: "ana@example.com", password: "a wall of whitewash" };
const visitor = { name: "Inês Prado", email: "ines@example.com" };
const words = "A casa ficou mais clara.\n<b>Três</b> semanas, e valeu a pena.";

/** A text of the server's pages and mails, up to its first placeholder. */
const say = (language: Language, key: keyof typeof en) =>
  ({ en, pt })[language][key].split("{")[0]!;

/** Starts a server with an owner and a finished commission; returns its private link and the id of its message. */
async function start(language: Language, post?: Post) {
  const server = await startServer("sqlite", post ? { env: post.env } : {});
  await server.command(["owner", "add", owner.email, "--password-stdin"], `${owner.password}\n`);
  const service = asService(server);
  const { data, error } = await service.rpc("get_site_settings");
  if (error) throw error;
  const saved = await service.rpc("save_site_settings", {
    version: (data as { version: string }).version,
    settings: { site: { enquiryLinks: true } },
  });
  if (saved.error) throw saved.error;
  const sent = await asAnon(server).functions.invoke("submit-contact", {
    body: { ...visitor, message: "Um retrato.", reason: "commission", language, follow: true },
  });
  if (sent.error) throw sent.error;
  await post?.next(owner.email); // the notice
  const message = await service.from("contact_submissions").select("id").single();
  if (message.error) throw message.error;
  const { id } = message.data;
  for (const stage of ["accepted", "in_progress", "finished"])
    await callCommission(server, id, stage);
  return { server, id, link: (sent.data as { enquiry_url: string }).enquiry_url };
}

async function callCommission(server: Server, id: string, stage: string): Promise<void> {
  const { error } = await asService(server).functions.invoke("commission", {
    body: { action: "stage", message_id: id, stage },
  });
  if (error) throw error;
}

/** Looks at a page at all widths and in both schemes, and keeps pictures where SCREENSHOTS names a folder. */
async function look(page: Page, name: string): Promise<void> {
  const before = page.viewportSize()!;
  await expectAccessibleInBothSchemes(page, async (scheme) => {
    for (const width of [320, 390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoSidewaysScroll(page);
      if (process.env.SCREENSHOTS)
        await page.screenshot({
          path: `${process.env.SCREENSHOTS}/review-${name}-${width}-${scheme}.png`,
          fullPage: true,
        });
    }
  });
  await page.setViewportSize(before);
}

for (const language of languages)
  for (const scripts of [true, false])
    test(`E-review-1 E-review-2 AM-review-1 AM-review-2 S2-home-review-mark: a review is asked for, written, approved and shown, in ${language}, ${scripts ? "by mail" : "without scripts and mail"}`, async ({
      browser,
      page: desk,
    }) => {
      // The client's pages are looked at in Portuguese, the owner's and home in English.
      const clientLooks = scripts && language === "pt";
      const ownerLooks = scripts && language === "en";
      const post = scripts ? await startPost() : undefined;
      const { server, link } = await start(language, post);
      const context = await browser.newContext({
        javaScriptEnabled: scripts,
        reducedMotion: "reduce",
        viewport: { width: 390, height: 844 },
      });
      try {
        const picture = {
          name: "wall.jpg",
          mimeType: "image/jpeg",
          buffer: await makeJpeg(desk, { width: 600, height: 400, plain: true }),
        };
        await desk.setViewportSize({ width: 1440, height: 900 });
        await signInAt(desk, { ...server, owner }, "/admin/contact-messages", language);
        await desk.getByRole("button", { name: new RegExp(visitor.name) }).click();
        const panel = desk.getByRole("region", {
          name: text(language, "clientReview.title"),
          exact: true,
        });
        const ask = panel.getByRole("button", { name: text(language, "clientReview.ask") });
        await ask.focus();
        await desk.keyboard.press("Enter");
        await expect(panel).toContainText(text(language, "clientReview.asked").split("{")[0]!);
        await expect(desk.getByText(text(language, "clientReview.toast.asked"))).toBeVisible();
        await expect(ask).toHaveCount(0);
        const conversation = desk.getByRole("region", {
          name: text(language, "messages.conversation"),
        });
        await expect(conversation).toContainText(text(language, "messages.kind.review_request"));
        await expectAccessible(desk);
        if (post) {
          const mail = await post.next(visitor.email);
          expect(mail.text).toContain(say(language, "mail.contact_review.title"));
          expect(mail.text).toContain(link);
          await expect(conversation).toContainText(text(language, "messages.delivery.sent"));
        } else await expect(conversation).toContainText(text(language, "messages.delivery.none"));

        const client = await context.newPage();
        await client.goto(link);
        const region = client.locator("#review");
        await expect(
          region.getByRole("heading", { name: say(language, "enquiry.review.ask") }),
        ).toBeVisible();
        const name = region.locator("#review-name");
        const written = region.getByLabel(say(language, "enquiry.review.text"), { exact: true });
        const send = region.getByRole("button", { name: say(language, "enquiry.review.send") });
        await expect(name).toHaveValue(visitor.name);
        if (clientLooks) await look(client, `form-${language}`);
        await name.fill("");
        await written.fill(words);
        await region
          .getByLabel(say(language, "enquiry.review.picture"))
          .setInputFiles({ ...picture, buffer: Buffer.from("no picture") });
        await send.click();
        await expect(client.getByRole("alert")).toHaveText(
          say(language, "enquiry.review.error.fields"),
        );
        await expect(name).toHaveAccessibleDescription(say(language, "enquiry.review.error.name"));
        await expect(region).toContainText(say(language, "enquiry.pictures.type"));
        await expect(written).toHaveValue(words);
        if (clientLooks) await look(client, `refused-${language}`);

        await name.fill("Inês P.");
        await region.getByLabel(say(language, "enquiry.review.place")).fill("Faro");
        await region.getByLabel(say(language, "enquiry.review.picture")).setInputFiles(picture);
        await send.click();
        await expect(client).toHaveURL(`${link}#review`);
        await expect(region).toContainText(say(language, "enquiry.review.state.waiting"));
        await expect(
          region.getByRole("img", { name: say(language, "enquiry.review.pictureAlt") }),
        ).toBeVisible();
        if (clientLooks) await look(client, `waiting-${language}`);
        if (post) {
          const notice = await post.next(owner.email);
          expect(notice.text).toContain(say(language, "enquiry.review.written"));
        }

        // It comes to the owner live, and waits above the list of reviews.
        const card = panel.getByRole("article");
        await expect(card).toContainText("<b>Três</b> semanas");
        await expect(card).toContainText(text(language, "clientReview.waiting"));
        await expect(
          card.getByRole("img", {
            name: text(language, "clientReview.picture", { name: "Inês P." }),
          }),
        ).toBeVisible();
        if (ownerLooks) await look(desk, `desk-${language}`);
        const home = server.url + inLanguage(language, "/");
        await client.goto(home);
        await expect(client.getByText("A casa ficou mais clara.")).toHaveCount(0);

        await desk.goto(server.url + inLanguage(language, "/admin/reviews"));
        const waiting = desk.getByRole("region", { name: text(language, "clientReview.waiting") });
        await expect(waiting.getByRole("article")).toContainText("Inês P.");
        if (ownerLooks) await look(desk, `list-${language}`);
        await waiting.getByRole("button", { name: text(language, "clientReview.edit") }).click();
        const box = waiting.getByLabel(text(language, "reviews.message"));
        await box.fill("");
        await waiting
          .getByRole("button", { name: text(language, "clientReview.approveEdited") })
          .click();
        await expect(box).toHaveAccessibleDescription(text(language, "commission.required"));
        await box.fill("A casa ficou mais clara. Valeu a pena.");
        if (ownerLooks) await expectAccessible(desk);
        await waiting
          .getByRole("button", { name: text(language, "clientReview.approveEdited") })
          .click();
        await expect(desk.getByText(text(language, "clientReview.toast.approved"))).toBeVisible();
        await expect(waiting).toHaveCount(0);
        const row = desk.getByRole("listitem").filter({ hasText: "Inês P." });
        await expect(row).toContainText("Valeu a pena.");
        await expect(row).toContainText(text(language, "testimonials.fromCommission"));

        await client.goto(home); // and not to its fragment, which would load nothing
        const shown = client
          .locator("#testimonials")
          .getByRole("button", { name: /Valeu a pena/ })
          .first();
        await expect(shown).toContainText(text(language, "testimonials.fromCommission"));
        await expect(shown).toContainText("Faro");
        if (scripts) {
          await shown.scrollIntoViewIfNeeded();
          if (ownerLooks) await look(client, `home-${language}`);
          await shown.click();
          await expect(client.getByRole("dialog")).toContainText(
            text(language, "testimonials.fromCommission"),
          );
        }
        await client.goto(link);
        await expect(region).toContainText(say(language, "enquiry.review.state.approved"));
        await expect(region.getByRole("textbox")).toHaveCount(0);
      } finally {
        await desk.goto("about:blank");
        await context.close();
        await server.stop();
        await post?.stop();
      }
    });

test("E-review-2 AM-review-2: a review is changed, taken back, written again and declined", async ({
  browser,
  page: desk,
}) => {
  const { server, id, link } = await start("en");
  const context = await browser.newContext({ javaScriptEnabled: false });
  try {
    const asked = await asService(server).functions.invoke("commission-review", {
      body: { action: "ask", message_id: id },
    });
    if (asked.error) throw asked.error;
    await desk.setViewportSize({ width: 390, height: 844 });
    await signInAt(desk, { ...server, owner }, "/admin/reviews", "en");
    const waiting = desk.getByRole("region", { name: text("en", "clientReview.waiting") });
    await expect(waiting).toHaveCount(0);

    const client = await context.newPage();
    await client.goto(link);
    const region = client.locator("#review");
    const box = region.getByLabel(say("en", "enquiry.review.text"), { exact: true });
    await box.fill("Lovely.");
    await region.getByRole("button", { name: say("en", "enquiry.review.send") }).click();
    await box.fill("Lovely, and quick.");
    await region.getByRole("button", { name: say("en", "enquiry.review.save") }).click();
    await expect(waiting).toContainText("Lovely, and quick."); // live
    await region.getByRole("button", { name: say("en", "enquiry.review.remove") }).click();
    await expect(box).toHaveValue("");
    await expect(waiting).toHaveCount(0);
    await box.fill("Lovely after all.");
    await region.getByRole("button", { name: say("en", "enquiry.review.send") }).click();
    await expect(waiting).toContainText("Lovely after all.");
    await waiting.getByRole("button", { name: text("en", "clientReview.decline") }).click();
    await expect(desk.getByText(text("en", "clientReview.toast.declined"))).toBeVisible();
    await expect(waiting).toHaveCount(0);
    await client.reload();
    await expect(region).toContainText(say("en", "enquiry.review.state.declined"));
    await expect(region.getByRole("textbox")).toHaveCount(0);
  } finally {
    await desk.goto("about:blank");
    await context.close();
    await server.stop();
  }
});
