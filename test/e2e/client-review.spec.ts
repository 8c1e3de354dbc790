// A review of a finished commission, from both sides and in both languages: with a mail server and scripts, and without both. Requested,
// written at the private link with a picture, approved, and shown on the home page with its mark.
import { asService } from "../harness/clients.ts";
import { type MailServer, startMailServer } from "../harness/mail-server.ts";
import { signInAt } from "./admin.ts";
import { askForCommission, moveToStage, owner, startWithLinks, visitor } from "./conversations.ts";
import { checkPage, expect, expectAccessible, makeJpeg, test } from "./fixtures.ts";
import { inLanguage, type Language, repetition, serverText, text } from "./texts.ts";

test.use({
  contextOptions: { reducedMotion: "reduce" },
  allowedConsole: [/status of (400|409|415) .*\/enquiry\//], // refused forms
});

const words = "A casa ficou mais clara.\n<b>Três</b> semanas, e valeu a pena.";

/** Starts a server with a finished commission; returns its private link and the id of its message. */
async function start(language: Language, mailServer?: MailServer) {
  const server = await startWithLinks({ mailServer });
  const { link, id } = await askForCommission(server, language, "Um retrato da casa.");
  await mailServer?.next(owner.email); // the notice
  for (const stage of ["accepted", "in_progress", "finished"]) await moveToStage(server, id, stage);
  return { server, id, link };
}

// whole-commission.spec.ts goes through both ways in both languages.
for (const [language, scripts] of [
  ["en", true],
  ["pt", true],
  ["pt", false],
] as const)
  test(`E-review-1 E-review-2 AM-review-1 AM-review-2 S2-home-review-mark: a review is requested, written, approved and shown, in ${repetition(language)}, ${scripts ? "by mail" : "without scripts and mail"}`, async ({
    browser,
    page: desk,
  }) => {
    const mailServer = scripts ? await startMailServer() : undefined;
    const { server, link } = await start(language, mailServer);
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
      if (mailServer) {
        const mail = await mailServer.next(visitor.email);
        expect(mail.text).toContain(serverText(language, "mail.contact_review.title"));
        expect(mail.text).toContain(link);
        await expect(conversation).toContainText(text(language, "messages.delivery.sent"));
      } else await expect(conversation).toContainText(text(language, "messages.delivery.none"));

      const client = await context.newPage();
      await client.goto(link);
      const region = client.locator("#review");
      await expect(
        region.getByRole("heading", { name: serverText(language, "enquiry.review.ask") }),
      ).toBeVisible();
      const name = region.locator("#review-name");
      const written = region.getByLabel(serverText(language, "enquiry.review.text"), {
        exact: true,
      });
      const send = region.getByRole("button", {
        name: serverText(language, "enquiry.review.send"),
      });
      await expect(name).toHaveValue(visitor.name);
      if (scripts) await checkPage(client, `review-form-${language}`);
      await name.fill("");
      await written.fill(words);
      await region
        .getByLabel(serverText(language, "enquiry.review.picture"))
        .setInputFiles({ ...picture, buffer: Buffer.from("no picture") });
      await send.click();
      await expect(client.getByRole("alert")).toHaveText(
        serverText(language, "enquiry.review.error.fields"),
      );
      await expect(name).toHaveAccessibleDescription(
        serverText(language, "enquiry.review.error.name"),
      );
      await expect(region).toContainText(serverText(language, "enquiry.pictures.type"));
      await expect(written).toHaveValue(words);
      if (scripts) await checkPage(client, `review-refused-${language}`);

      await name.fill("Inês P.");
      await region.getByLabel(serverText(language, "enquiry.review.place")).fill("Faro");
      await region
        .getByLabel(serverText(language, "enquiry.review.picture"))
        .setInputFiles(picture);
      await send.click();
      await expect(client).toHaveURL(`${link}#review`);
      await expect(region).toContainText(serverText(language, "enquiry.review.state.waiting"));
      await expect(
        region.getByRole("img", { name: serverText(language, "enquiry.review.pictureAlt") }),
      ).toBeVisible();
      if (scripts) await checkPage(client, `review-waiting-${language}`);
      if (mailServer) {
        const notice = await mailServer.next(owner.email);
        expect(notice.text).toContain(serverText(language, "enquiry.review.written"));
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
      if (scripts) await checkPage(desk, `review-desk-${language}`);
      const home = server.url + inLanguage(language, "/");
      await client.goto(home);
      await expect(client.getByText("A casa ficou mais clara.")).toHaveCount(0);

      await desk.goto(server.url + inLanguage(language, "/admin/reviews"));
      const waiting = desk.getByRole("region", { name: text(language, "clientReview.waiting") });
      await expect(waiting.getByRole("article")).toContainText("Inês P.");
      if (scripts) await checkPage(desk, `review-list-${language}`);
      await waiting.getByRole("button", { name: text(language, "clientReview.edit") }).click();
      const box = waiting.getByLabel(text(language, "reviews.message"));
      await box.fill("");
      await waiting
        .getByRole("button", { name: text(language, "clientReview.approveEdited") })
        .click();
      await expect(box).toHaveAccessibleDescription(text(language, "commission.required"));
      await box.fill("A casa ficou mais clara. Valeu a pena.");
      if (scripts) await expectAccessible(desk);
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
        if (scripts) await checkPage(client, `review-home-${language}`);
        await shown.click();
        await expect(client.getByRole("dialog")).toContainText(
          text(language, "testimonials.fromCommission"),
        );
      }
      await client.goto(link);
      await expect(region).toContainText(serverText(language, "enquiry.review.state.approved"));
      await expect(region.getByRole("textbox")).toHaveCount(0);
    } finally {
      await desk.goto("about:blank");
      await context.close();
      await server.stop();
      await mailServer?.stop();
    }
  });

test("E-review-2 AM-review-2: a review is changed, withdrawn, written again and declined", async ({
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
    const box = region.getByLabel(serverText("en", "enquiry.review.text"), { exact: true });
    await box.fill("Lovely.");
    await region.getByRole("button", { name: serverText("en", "enquiry.review.send") }).click();
    const save = region.getByRole("button", { name: serverText("en", "enquiry.review.save") });
    await expect(save).toBeVisible(); // the page that answers the form
    await box.fill("Lovely, and quick.");
    await save.click();
    await expect(waiting).toContainText("Lovely, and quick."); // live
    await region.getByRole("button", { name: serverText("en", "enquiry.review.remove") }).click();
    await expect(box).toHaveValue("");
    await expect(waiting).toHaveCount(0);
    await box.fill("Lovely after all.");
    await region.getByRole("button", { name: serverText("en", "enquiry.review.send") }).click();
    await expect(waiting).toContainText("Lovely after all.");
    await waiting.getByRole("button", { name: text("en", "clientReview.decline") }).click();
    await expect(desk.getByText(text("en", "clientReview.toast.declined"))).toBeVisible();
    await expect(waiting).toHaveCount(0);
    await client.reload();
    await expect(region).toContainText(serverText("en", "enquiry.review.state.declined"));
    await expect(region.getByRole("textbox")).toHaveCount(0);
  } finally {
    await desk.goto("about:blank");
    await context.close();
    await server.stop();
  }
});
