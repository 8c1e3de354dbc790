// Failures on each admin page, in both languages, with the server stopped and with the network cut. Each action shows
// its error, and no typed text is lost.
import { join } from "node:path";

import type { BrowserContext, Page } from "@playwright/test";

import { asAnon } from "../harness/clients.ts";
import { root } from "../harness/root.ts";
import { type Server, startServer } from "../harness/server.ts";
import { fillSignIn, signInAt } from "./admin.ts";
import { expect, makeJpeg, test } from "./fixtures.ts";
import { inLanguage, type Language, languages, text } from "./texts.ts";

type Key = Parameters<typeof text>[1];
type Vars = Parameters<typeof text>[2];

/** Tries each action of the admin area after `cut` has made all requests fail, and expects its error message. */
async function expectErrors(
  context: BrowserContext,
  server: Server,
  language: Language,
  cut: () => Promise<unknown>,
): Promise<void> {
  const t = (key: Key, vars?: Vars) => text(language, key, vars);
  const named = (at: Page, key: Key, vars?: Vars) =>
    at
      .getByRole("button", { name: t(key, vars), exact: true })
      .locator("visible=true")
      .first();
  const expectToast = async (at: Page, ...words: string[]) => {
    for (const one of words)
      await expect(
        at.locator("[data-sonner-toast]").getByText(one, { exact: true }).last(),
      ).toBeVisible();
  };
  const open = async (path: string) => {
    const page = await context.newPage();
    await page.goto(server.url + inLanguage(language, path));
    return page;
  };
  const confirmDelete = async (at: Page, question: Key) => {
    const dialog = at.getByRole("alertdialog");
    await expect(dialog).toContainText(t(question));
    await dialog.getByRole("button", { name: t("common.delete"), exact: true }).click();
  };

  for (const [name, reason] of [
    ["Inês", ""],
    ["Bot", "http://watches"],
  ]) {
    const { error } = await asAnon(server).functions.invoke("submit-contact", {
      body: { name, email: "ines@example.com", message: "Temos uma parede.", reason },
    });
    expect(error).toBeNull();
  }

  const products = await context.newPage();
  await products.goto(server.url + inLanguage(language, "/admin/products"));
  await fillSignIn(products, server, language);
  await expect(products).toHaveURL(/\/admin\/products/);
  const reviews = await open("/admin/reviews");
  const covers = await open("/admin/cover-images");
  const messages = await open("/admin/contact-messages");
  const quarantine = await open("/admin/contact-messages?box=quarantine");
  const settings = await open("/admin/settings");
  const cover = covers
    .getByRole("listitem")
    .filter({ has: covers.getByRole("switch") })
    .first();

  await named(products, "products.editNamed", { title: "Onda" }).click();
  await products.getByRole("textbox", { name: t("gallery.medium"), exact: true }).fill("Ink");
  await reviews.getByRole("button", { name: t("reviews.add") }).click();
  await reviews.getByLabel(t("reviews.clientName")).fill("Zé");
  await reviews
    .getByRole("textbox", { name: t("reviews.message"), exact: true })
    .fill("Muito bom.");
  await expect(cover).toBeVisible();
  await messages.getByRole("button", { name: /Inês/ }).click();
  await expect(messages.getByRole("heading", { name: "Inês" })).toBeVisible();
  await quarantine.getByRole("button", { name: /Bot/ }).click();
  await settings.getByLabel(t("settings.name")).fill("Not stored");
  // By now the admin pages have loaded the code of toasts and of dialogs that open later.
  await cut();

  await test.step("works", async () => {
    await products.bringToFront();
    await named(products, "common.saveChanges").click();
    await expectToast(products, t("products.toast.saveError"));
    await expect(
      products.getByRole("textbox", { name: t("gallery.medium"), exact: true }),
    ).toHaveValue("Ink");
    await named(products, "common.cancel").click();
    await expect(products.getByText(t("common.discardQuestion"))).toBeVisible();
    await named(products, "common.discard").click();
    await named(products, "products.deleteNamed", { title: "Onda" }).click();
    await confirmDelete(products, "products.deleteConfirm");
    await expectToast(products, t("products.toast.deleteError"));
  });

  await test.step("reviews", async () => {
    await reviews.bringToFront();
    await reviews
      .getByRole("dialog")
      .getByRole("button", { name: t("reviews.add") })
      .click();
    await expectToast(reviews, t("reviews.toast.addError"));
    await expect(
      reviews.getByRole("textbox", { name: t("reviews.message"), exact: true }),
    ).toHaveValue("Muito bom.");
    await named(reviews, "common.cancel").click();
    await named(reviews, "common.discard").click();
    await named(reviews, "reviews.down").click();
    await expectToast(reviews, t("reviews.toast.orderError"));
    await named(reviews, "reviews.deleteNamed", { name: "Ana" }).click();
    await confirmDelete(reviews, "reviews.deleteConfirm");
    await expectToast(reviews, t("reviews.toast.deleteError"));
    await named(reviews, "reviews.editNamed", { name: "Ana" }).click();
    await reviews.getByLabel(t("reviews.location")).fill("Faro");
    await named(reviews, "common.saveChanges").click();
    await expectToast(reviews, t("reviews.toast.updateError"));
  });

  await test.step("covers", async () => {
    await covers.bringToFront();
    await cover
      .getByRole("textbox", { name: t("covers.description"), exact: true })
      .fill("Not stored");
    await cover.getByRole("button", { name: t("common.save"), exact: true }).click();
    // The message of the server, or of the browser when no server responds.
    await expectToast(covers, t("common.error"), "TypeError: Failed to fetch");
    await expect(
      cover.getByRole("textbox", { name: t("covers.description"), exact: true }),
    ).toHaveValue("Not stored");
    await cover.getByRole("switch").click();
    await expect(cover.getByRole("switch", { name: t("covers.active") })).toBeChecked();
    await cover.getByRole("button", { name: t("common.delete"), exact: true }).click();
    await confirmDelete(covers, "covers.deleteConfirm");
    await expect(cover).toBeVisible();
  });

  await test.step("messages", async () => {
    await messages.bringToFront();
    await named(messages, "common.delete").click();
    await confirmDelete(messages, "messages.deleteConfirm");
    await expectToast(messages, t("messages.toast.deleteError"));
    await expect(messages.getByRole("heading", { name: "Inês" })).toBeVisible();
    await quarantine.bringToFront();
    await named(quarantine, "messages.restore").click();
    await expectToast(quarantine, t("messages.toast.restoreError"));
  });

  await test.step("settings", async () => {
    await settings.bringToFront();
    await named(settings, "settings.webhookKeyShow").click();
    await expectToast(settings, t("settings.toast.keyError"));
    await named(settings, "common.saveChanges").click();
    await expectToast(settings, t("settings.toast.saveError"), t("auth.error.offline"));
    await expect(settings.getByLabel(t("settings.name"))).toHaveValue("Not stored");
    await settings.getByRole("link", { name: t("nav.products"), exact: true }).click();
    await expect(settings.getByRole("alertdialog")).toContainText(t("settings.leaveQuestion"));
    await settings.keyboard.press("Escape");
  });

  await test.step("signing out stays on the page", async () => {
    await messages.bringToFront();
    await messages
      .getByRole("banner")
      .getByRole("button", { name: t("nav.signOut") })
      .click();
    await expectToast(messages, t("auth.signOutError"), "Failed to fetch");
    await expect(messages).toHaveURL(/\/admin\/contact-messages/);
  });
}

test.describe("without responses", () => {
  // The browser's console messages for failed requests.
  test.use({ allowedConsole: [/net::ERR_\w+|WebSocket/] });

  test("A-prod-9: with the server stopped, every page shows the error and keeps the typed text", async ({
    context,
    demoFolder,
  }) => {
    const server = await startServer("sqlite", { demo: demoFolder });
    let running = true;
    try {
      await expectErrors(context, server, "en", async () => {
        running = false;
        await server.stop();
      });
    } finally {
      if (running) await server.stop();
    }
  });

  test("A-set-fail: with the network cut, every page shows the error in Portuguese and keeps the typed text", async ({
    context,
    demoFolder,
  }) => {
    const server = await startServer("sqlite", { demo: demoFolder });
    try {
      await expectErrors(context, server, "pt", () => context.setOffline(true));
    } finally {
      for (const page of context.pages()) await page.close();
      await server.stop();
    }
  });
});

test.describe("the service refuses", () => {
  test.use({
    allowedConsole: [/status of (400|401|403|406|413) |net::ERR_\w+|WebSocket|storage refuses/],
  });

  test("A-draft-3: a full disk, a lost connection and a removed role each show their own message for the file, in both languages", async ({
    context,
  }) => {
    const server = await startServer("sqlite", { env: { ATELIE_STORAGE_QUOTA: "60000" } });
    try {
      const owner = { email: "ana@example.com", password: "a wall of whitewash" };
      for (const email of [owner.email, "rui@example.com"])
        await server.command(["owner", "add", email, "--password-stdin"], `${owner.password}\n`);
      const pages = { en: await context.newPage(), pt: await context.newPage() };
      await signInAt(pages.en, { ...server, owner }, "/admin/reviews");
      const file = (name: string, buffer: Buffer) => ({ name, mimeType: "image/jpeg", buffer });
      const small = await makeJpeg(pages.en, { width: 40, height: 30, quality: 0.5 });
      const large = await makeJpeg(pages.en, { width: 1200, height: 900, quality: 0.9 });
      const film = join(root, "internal/demo/content/noite-no-cais.mp4");
      const forms = languages.map((language) => {
        const page = pages[language];
        const t = (key: Key, vars?: Vars) => text(language, key, vars);
        const kinds = (kind: "image" | "video") => ({
          kind: t(`upload.kind.${kind}`),
          kinds: t(`upload.kinds.${kind}`),
        });
        const expectToast = async (...words: string[]) => {
          for (const one of words)
            await expect(
              page.locator("[data-sonner-toast]").getByText(one, { exact: true }).last(),
            ).toBeVisible();
        };
        const choose = (nth: number, what: ReturnType<typeof file> | string) =>
          page.locator("[role=dialog] input[type=file]").nth(nth).setInputFiles(what);
        return { page, language, t, kinds, says: expectToast, choose };
      });

      for (const { page, language, t, kinds, says: expectToast, choose } of forms) {
        await test.step(`a full disk (${language})`, async () => {
          await page.goto(server.url + inLanguage(language, "/admin/reviews"));
          await page
            .getByRole("button", { name: t("reviews.add") })
            .first()
            .click();
          await choose(0, file("large.jpg", large));
          await expectToast(t("reviews.toast.uploadError"));
          // Otherwise the form on the other page would offer this file as a draft.
          await page.getByRole("button", { name: t("common.cancel"), exact: true }).click();
          await page.getByRole("button", { name: t("common.discard"), exact: true }).click();
          await page.goto(server.url + inLanguage(language, "/admin/products"));
          await page
            .getByRole("button", { name: t("products.add") })
            .first()
            .click();
          await choose(1, file("large.jpg", large));
          await expectToast(t("upload.failedTitle"), t("upload.failedBody", kinds("image")));
          await choose(2, film);
          await expectToast(t("upload.failedBody", kinds("video")));
          await page
            .getByRole("button", { name: t("upload.remove") })
            .last()
            .click();
          await page
            .getByRole("button", { name: t("upload.remove") })
            .last()
            .click();
        });
        await test.step(`a lost connection (${language})`, async () => {
          const stored = page.getByRole("button", { name: t("upload.remove"), exact: true });
          await choose(0, file("main.jpg", small));
          await choose(1, file("one.jpg", small));
          await expect(stored).toHaveCount(2);
          await expect(page.getByRole("button", { name: t("common.save") })).toBeEnabled();
          await context.setOffline(true);
          await stored.last().click();
          await expectToast(t("common.error"), t("upload.removeError", kinds("image")));
          await context.setOffline(false);
        });
      }

      await server.command(["owner", "remove", owner.email]);
      for (const { page, language, t, kinds, says: expectToast, choose } of forms) {
        await test.step(`a removed role (${language})`, async () => {
          await choose(1, file("two.jpg", small));
          await expectToast(t("upload.unauthorized"), t("upload.onlyAdminUpload", kinds("image")));
          await choose(2, film);
          await expectToast(t("upload.onlyAdminUpload", kinds("video")));
          await page
            .getByRole("button", { name: t("upload.remove"), exact: true })
            .first()
            .click();
          await expectToast(t("upload.onlyAdminRemove", kinds("image")));
        });
      }

      // The browser's storage fails; for this error the service has no message of its own.
      const page = await context.newPage();
      await page.goto(server.url);
      const signOut = page.getByRole("banner").getByRole("button", { name: "Sign Out" });
      await expect(signOut).toBeVisible();
      await page.evaluate(() => {
        Storage.prototype.removeItem = () => {
          throw new DOMException("storage refuses");
        };
      });
      await signOut.click();
      const toast = page.locator("[data-sonner-toast]");
      await expect(toast).toContainText(text("en", "auth.signOutError"));
      await expect(toast).toContainText(text("en", "auth.unexpected"));
    } finally {
      for (const page of context.pages()) await page.close();
      await server.stop();
    }
  });
});
