// One commission from the question about a work to the published review, from both sides and in both languages: with a mail server and
// scripts, and without both. What each step shows in detail is tested in the specs of that step.
import { startMailServer } from "../harness/mail-server.ts";
import { signInAt } from "./admin.ts";
import {
  askAboutWork,
  findWork,
  owner,
  sendMessage,
  startWithLinks,
  visitor,
} from "./conversations.ts";
import { expect, makeJpeg, test } from "./fixtures.ts";
import { inLanguage, languages, repetition, serverText, text } from "./texts.ts";

test.use({ contextOptions: { reducedMotion: "reduce" } });

for (const language of languages)
  for (const scripts of [true, false])
    test(`E-page-1 E-copy-1 E-reply-2 E-picture-1 E-offer-1 E-stage-1 E-review-1 AM-reply-1 AM-commission-3 AM-review-2 S2-home-review-mark: a commission from the question to the published review, in ${repetition(language)}, ${scripts ? "by mail" : "without scripts and mail"}`, async ({
      browser,
      page: desk,
      demoFolder,
    }) => {
      const mailServer = scripts ? await startMailServer() : undefined;
      const site = { enquiryCopies: true, commissions: { state: "open", slots: 1 } };
      const server = await startWithLinks({ demo: demoFolder, mailServer, site });
      const context = await browser.newContext({
        javaScriptEnabled: scripts,
        reducedMotion: "reduce",
        viewport: { width: 390, height: 844 },
      });
      const say = (key: Parameters<typeof serverText>[1]) => serverText(language, key);
      const own = (key: Parameters<typeof text>[1]) => text(language, key);
      /** Expects a mail to somebody that has these texts. */
      const mailed = async (to: string, ...texts: string[]) => {
        if (!mailServer) return;
        const mail = await mailServer.next(to);
        for (const part of texts) expect(mail.text).toContain(part);
      };
      try {
        const picture = {
          name: "wall.jpg",
          mimeType: "image/jpeg",
          buffer: await makeJpeg(desk, { width: 600, height: 400, plain: true }),
        };
        const client = await context.newPage();
        const { id, title } = await findWork(server);
        if (scripts) await askAboutWork(client, server, language, id, "work.commission");
        else {
          await client.goto(server.url + inLanguage(language, `/gallery/all?art=${id}`));
          await client.getByRole("link", { name: own("work.commission") }).click();
        }
        const link = await sendMessage(client, language, "Para a nossa sala.");
        await mailed(owner.email, "Para a nossa sala.");
        await mailed(visitor.email, say("mail.contact_copy.title"), link);

        // The owner replies inside; the visitor answers with a picture.
        await desk.setViewportSize({ width: 1440, height: 900 });
        await signInAt(desk, { ...server, owner }, "/admin/contact-messages", language);
        await desk.getByRole("button", { name: new RegExp(visitor.name) }).click();
        const conversation = desk.getByRole("region", { name: own("messages.conversation") });
        await desk
          .getByLabel(text(language, "messages.replyLabel", { name: visitor.name }))
          .fill("Com gosto.");
        await desk.getByRole("button", { name: own("messages.sendReply") }).click();
        await expect(conversation.getByRole("listitem")).toContainText("Com gosto."); // not the form
        await mailed(visitor.email, "> Com gosto.", link);
        await client.goto(link, { waitUntil: "load" });
        await expect(client.locator("html")).toHaveAttribute("lang", language);
        if (scripts) await expect(client.getByRole("link", { name: title })).toBeVisible();
        await expect(client.getByText("Com gosto.")).toBeVisible();
        await client.getByLabel(say("enquiry.reply"), { exact: true }).fill("Esta parede.");
        await client
          .getByLabel(say("enquiry.pictures.label"), { exact: true })
          .setInputFiles(picture);
        await client.getByRole("button", { name: say("enquiry.send"), exact: true }).click();
        await expect(client.getByText("Esta parede.")).toBeVisible();
        await expect(conversation).toContainText("Esta parede."); // live
        await expect(
          conversation.getByRole("img", {
            name: text(language, "messages.picture", { n: 1, all: 1 }),
          }),
        ).toBeVisible();
        await mailed(owner.email, "> Esta parede.");

        // An offer is made and accepted.
        // Without scripts, the form gives no reason, and the message does not open as a commission.
        if (!scripts)
          await desk
            .locator("summary")
            .filter({ hasText: own("commission.title") })
            .click();
        await desk.getByRole("button", { name: own("commission.makeOffer") }).click();
        await desk.getByLabel(own("commission.offerText")).fill("Uma aguarela.");
        await desk.getByRole("textbox", { name: own("commission.price") }).fill("300 €");
        await desk.getByRole("button", { name: own("commission.sendOffer") }).click();
        await mailed(visitor.email, "> Uma aguarela.", "300 €", link);
        const stage = desk.getByRole("combobox", { name: own("commission.stage") });
        await expect(stage).toHaveValue("offer");
        await client.reload();
        const offer = client.getByRole("region", { name: say("enquiry.offer.title") });
        await offer.getByLabel(say("enquiry.offer.name")).fill("Inês Maria Prado");
        await offer.getByRole("button", { name: say("enquiry.offer.accept") }).click();
        await expect(offer).toContainText("Inês Maria Prado");
        await expect(stage).toHaveValue("accepted"); // live
        await mailed(owner.email, "Inês Maria Prado");

        // Two notes on the progress.
        await stage.selectOption("in_progress");
        await expect(stage).toHaveValue("in_progress");
        for (const note of ["O desenho está feito.", "A primeira camada secou."]) {
          const opener = desk.getByRole("button", { name: own("commission.writeProgress") });
          await opener.click();
          await desk.getByLabel(own("commission.progressText"), { exact: true }).fill(note);
          await desk.getByRole("button", { name: own("commission.sendProgress") }).click();
          await expect(conversation.getByRole("listitem").last()).toContainText(note); // live
          await expect(opener).toHaveAttribute("aria-expanded", "false"); // the response has arrived
          await mailed(visitor.email, say("mail.contact_progress.title"), `> ${note}`);
        }
        await stage.selectOption("finished");
        await expect(stage).toHaveValue("finished");
        await client.reload();
        await expect(client.getByText(`${say("enquiry.from.progress")} · `)).toHaveCount(2);
        await expect(client.getByText(say("enquiry.stage.finished"))).toBeVisible();

        // A review is requested, written and approved, and shown on the home page.
        await desk.getByRole("button", { name: own("clientReview.ask") }).click();
        await expect(conversation).toContainText(own("messages.kind.review_request"));
        await mailed(visitor.email, say("mail.contact_review.title"), link);
        await client.reload();
        const review = client.locator("#review");
        await review.getByLabel(say("enquiry.review.text"), { exact: true }).fill("A casa sorri.");
        await review.getByLabel(say("enquiry.review.picture")).setInputFiles(picture);
        await review.getByRole("button", { name: say("enquiry.review.send") }).click();
        await expect(review).toContainText(say("enquiry.review.state.waiting"));
        await mailed(owner.email, say("enquiry.review.written"));
        const waiting = desk.getByRole("region", { name: own("clientReview.title"), exact: true });
        await expect(waiting.getByRole("article")).toContainText("A casa sorri."); // live
        await waiting
          .getByRole("button", { name: own("clientReview.approve"), exact: true })
          .click();
        await expect(desk.getByText(own("clientReview.toast.approved"))).toBeVisible();
        await client.goto(server.url + inLanguage(language, "/"));
        const shown = client
          .locator("#testimonials")
          .getByRole("button", { name: /A casa sorri/ })
          .first();
        await expect(shown).toContainText(own("testimonials.fromCommission"));
      } finally {
        await desk.goto("about:blank");
        await context.close();
        await server.stop();
        await mailServer?.stop();
      }
    });
