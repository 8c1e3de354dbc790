// The owner's list of conversations and saved replies, and the visitor's copy by mail. The test uses a browser and a
// mail server, in both languages.
import { startMailServer } from "../harness/mail-server.ts";
import { signInAt } from "./admin.ts";
import { askAboutWork, findWork, owner, sendMessage, startWithLinks } from "./conversations.ts";
import { checkPage, expect, keepToastOpen, test } from "./fixtures.ts";
import { serverText, text } from "./texts.ts";

test.use({ contextOptions: { reducedMotion: "reduce" } });

const visitor = { name: "Inês <b>Prado</b>", email: "ines@example.com" };
const question = "Uma parede de 6 × 3 metros, em azul. Veja www.evil.example";

test("E-copy-1 E-copy-2 E-copy-8 AM-list-1 AM-state-1 AM-state-2 AM-saved-1 AM-saved-2 AM-saved-3: a visitor gets a copy, the owner filters by state and inserts a saved reply, in pt", async ({
  browser,
  page: client,
  demoFolder,
}) => {
  const language = "pt";
  const mailServer = await startMailServer();
  const server = await startWithLinks({
    demo: demoFolder,
    mailServer,
    site: { enquiryCopies: true },
  });
  const context = await browser.newContext({ reducedMotion: "reduce" });
  try {
    const work = await findWork(server);
    await askAboutWork(client, server, language, work.id);
    const link = await sendMessage(client, language, question, visitor);
    await expect(client.getByText(text(language, "contact.success.copy"))).toBeVisible();
    await checkPage(client, `copy-success-${language}`);
    const copy = await mailServer.next(visitor.email);
    expect(copy.subject).toContain(
      { en: "a copy of your message", pt: "cópia da sua mensagem" }[language],
    );
    expect(copy.text).toContain(serverText(language, "mail.contact_copy.title"));
    expect(copy.text).toContain("6 × 3 metros");
    expect(copy.text).toContain(link);
    expect(copy.text + copy.html).not.toContain("evil.example");
    expect(copy.text + copy.html).not.toContain("Prado");

    const desk = await context.newPage();
    await signInAt(desk, { ...server, owner }, "/admin/contact-messages", language);
    const row = desk.getByRole("button", { name: /Prado/ });
    await expect(row).toContainText(language.toUpperCase());
    await expect(row.locator("img")).toBeVisible();
    const states = desk.getByRole("group", { name: text(language, "messages.state") });
    const state = (name: "unread" | "waiting_me" | "waiting_them" | "done", count?: number) =>
      states.getByRole("button", {
        name: text(language, `messages.state.${name}`) + (count === undefined ? "" : ` ${count}`),
      });
    await checkPage(desk, `conversation-list-${language}`);
    await desk.setViewportSize({ width: 1440, height: 900 });

    // By keyboard: no conversation waits for the owner until the message is opened.
    await state("waiting_me").focus();
    await desk.keyboard.press("Enter");
    await expect(desk.getByText(text(language, "messages.noneFound"))).toBeVisible();
    await desk.keyboard.press("Shift+Tab");
    await desk.keyboard.press("Enter");
    await expect(row).toBeVisible();
    await row.click();
    await expect(state("waiting_me", 1)).toBeVisible();

    // The owner creates a saved reply in the form.
    const menu = desk
      .getByRole("region", { name: text(language, "messages.conversation") })
      .getByRole("button", { name: text(language, "messages.saved.title") });
    await menu.click();
    await desk.getByRole("menuitem", { name: text(language, "messages.saved.manage") }).click();
    await desk.getByRole("button", { name: text(language, "messages.saved.add") }).click();
    await desk.getByLabel(text(language, "messages.saved.name")).fill("Maio");
    await desk
      .getByRole("textbox", { name: text(language, "messages.saved.text"), exact: true })
      .fill("Dear {name}, in May.");
    await desk
      .getByRole("textbox", {
        name: text(language, "form.inPortuguese", {
          label: text(language, "messages.saved.text"),
        }),
      })
      .fill("Olá {name}, em maio.");
    await checkPage(desk, `saved-form-${language}`);
    await desk.getByRole("button", { name: text(language, "common.save"), exact: true }).click();
    await expect(desk.getByRole("heading", { name: "Maio" })).toBeVisible();
    await desk
      .getByRole("button", { name: text(language, "messages.saved.delete", { title: "Maio" }) })
      .click();
    await keepToastOpen(desk.getByText(text(language, "messages.saved.toast.deleted")));
    await expect(desk.getByText(text(language, "messages.saved.empty"))).toBeVisible();
    await desk.getByRole("button", { name: text(language, "common.undo") }).click();
    await expect(desk.getByRole("heading", { name: "Maio" })).toBeVisible();
    await checkPage(desk, `saved-replies-${language}`);
    await desk.setViewportSize({ width: 1440, height: 900 });

    // The saved reply is inserted in the language of the message, with the visitor's name as text.
    await desk.getByRole("link", { name: text(language, "messages.back") }).click();
    await row.click();
    await menu.click();
    await desk.getByRole("menuitem", { name: "Maio" }).click();
    const field = desk.getByLabel(text(language, "messages.replyLabel", { name: visitor.name }));
    const inserted = {
      en: `Dear ${visitor.name}, in May.`,
      pt: `Olá ${visitor.name}, em maio.`,
    }[language];
    await expect(field).toHaveValue(inserted);
    await expect(field).toBeFocused();
    await checkPage(desk, `conversation-${language}`);
    await desk.setViewportSize({ width: 1440, height: 900 });
    await desk.getByRole("button", { name: text(language, "messages.sendReply") }).click();
    expect((await mailServer.next(visitor.email)).text).toContain(inserted);
    await expect(state("waiting_them", 1)).toBeVisible();
    await expect(row).toContainText(`${text(language, "messages.you")}: ${inserted}`);

    await desk.getByRole("button", { name: text(language, "messages.markDone") }).click();
    await expect(state("done", 1)).toBeVisible();
    await client.goto(link, { waitUntil: "load" });
    await client.getByLabel(serverText(language, "enquiry.reply")).fill("Combinado: maio.");
    await client.getByRole("button", { name: serverText(language, "enquiry.send") }).click();
    await expect(client.getByText("Combinado: maio.")).toBeVisible();
    await expect(state("unread", 1)).toBeVisible(); // live
    await expect(row).toContainText("Combinado: maio.");
    // The owner was notified of the message and of the visitor's reply. The visitor got the copy and the owner's
    // reply.
    await mailServer.next(owner.email);
    await mailServer.next(owner.email);
    for (const to of [owner.email, visitor.email])
      expect(mailServer.all().filter((mail) => mail.to === to)).toHaveLength(2);
  } finally {
    await client.goto("about:blank");
    await context.close();
    await server.stop();
    await mailServer.stop();
  }
});
