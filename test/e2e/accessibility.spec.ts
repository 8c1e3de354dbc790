// axe finds nothing on any page, open dialog, menu and toast, in both languages and both colour schemes.
import type { Locator, Page } from "@playwright/test";

import { asAnon } from "../harness/clients.ts";
import type { Server } from "../harness/server.ts";
import { expect, expectAccessible, loadAllPictures, settled, test } from "./fixtures.ts";
import { inLanguage, type Language, languages, text } from "./texts.ts";

// The browser's own notes on the page that is not there, the refused sign-in, and the failed message. One
// expression, because Playwright takes a list whose second entry is an object for a value with options.
test.use({
  // The hero must not change its slide, half faded, while axe looks.
  contextOptions: { reducedMotion: "reduce" },
  allowedConsole: [
    /status of (404 .*\/nothing\/here|400 .*\/auth\/v1\/token|500 .*\/submit-contact)/,
  ],
});

// axe reads the whole page each time, some seconds on a slow machine.
test.describe.configure({ timeout: 120_000 });

async function expectAccessibleInBothSchemes(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await test.step(colorScheme, async () => {
      await page.emulateMedia({ colorScheme });
      await settled(page);
      await expectAccessible(page);
    });
  }
}

async function signIn(page: Page, demo: Server, language: Language): Promise<void> {
  await page.goto(demo.url + inLanguage(language, "/admin/auth"));
  await page.getByLabel(text(language, "auth.email")).fill(demo.owner!.email);
  await page
    .getByLabel(text(language, "auth.password"), { exact: true })
    .fill(demo.owner!.password);
  await page.getByRole("button", { name: text(language, "auth.submit"), exact: true }).click();
  await expect(page).toHaveURL(/\/admin$/);
}

async function fillForm(page: Page, language: Language): Promise<void> {
  const form = page.locator("#contact form");
  await form.getByLabel(text(language, "contact.form.name")).fill("Inês");
  await form.getByLabel(text(language, "contact.form.email")).fill("ines@example.com");
  await form.getByLabel(text(language, "contact.form.message")).fill("Uma parede de 6 × 3 metros.");
  await form.getByRole("button", { name: text(language, "contact.form.send") }).click();
}

/** A toast goes after four seconds; under the pointer it stays for as long as axe needs. */
async function hold(toast: Locator): Promise<void> {
  await expect(toast).toBeVisible();
  await toast.hover();
}

const pages = [
  "/",
  "/gallery",
  "/gallery/all",
  "/gallery/digital",
  "/gallery/mural",
  "/gallery/watercolour",
  "/politica-privacidade",
  "/admin/auth",
  "/admin/auth?setup=not-a-link",
  "/nothing/here",
];

for (const language of languages) {
  test.describe(language, () => {
    for (const path of pages) {
      test(`axe: ${path} in ${language}`, async ({ page, demo }) => {
        await page.goto(demo.url + inLanguage(language, path));
        await expect(page.locator("html")).toHaveAttribute("lang", language);
        await expect(page.getByRole("heading", { level: 1 })).toBeAttached();
        await loadAllPictures(page);
        await expectAccessibleInBothSchemes(page);
        await page.setViewportSize({ width: 390, height: 844 });
        await settled(page);
        await expectAccessible(page);
      });
    }

    for (const title of ["Telhados, manhã", "Noite no cais"]) {
      test(`axe: the open dialog of ${title} in ${language}`, async ({ page, demo }) => {
        await page.goto(demo.url + inLanguage(language, "/gallery/all"));
        await page.getByRole("link", { name: text(language, "gallery.open", { title }) }).click();
        const dialog = page.getByRole("dialog");
        await expect(dialog.getByRole("heading", { name: title })).toBeVisible();
        await expectAccessibleInBothSchemes(page);
        await page.setViewportSize({ width: 390, height: 844 });
        await settled(page);
        await expectAccessible(page);
      });
    }

    test(`axe: the open review dialog in ${language}`, async ({ page, demo }) => {
      await page.goto(demo.url + inLanguage(language, "/"));
      await page.getByRole("button", { name: /Beatriz/ }).click();
      await expect(page.getByRole("dialog")).toBeVisible();
      await expectAccessibleInBothSchemes(page);
    });

    test(`axe: the open gallery submenu in ${language}`, async ({ page, demo }) => {
      for (const path of ["/", "/politica-privacidade"]) {
        await page.goto(demo.url + inLanguage(language, path));
        await page
          .getByRole("banner")
          .getByRole("link", { name: text(language, "nav.gallery"), exact: true })
          .hover();
        await expect(
          page.getByRole("link", { name: text(language, "nav.allPaintings") }),
        ).toBeVisible();
        await expectAccessibleInBothSchemes(page);
      }
    });

    test(`axe: the open phone panel in ${language}`, async ({ page, demo }) => {
      await page.setViewportSize({ width: 390, height: 844 });
      for (const path of ["/", "/gallery/mural"]) {
        await page.goto(demo.url + inLanguage(language, path));
        await page.getByRole("button", { name: text(language, "nav.menu"), exact: true }).click();
        await expect(
          page.getByRole("banner").getByRole("button", { name: text(language, "nav.about") }),
        ).toBeVisible();
        await expectAccessibleInBothSchemes(page);
      }
    });

    test(`axe: the form's errors, its failure toast and its success in ${language}`, async ({
      page,
      demo,
    }) => {
      await page.goto(demo.url + inLanguage(language, "/"));
      const send = page.getByRole("button", { name: text(language, "contact.form.send") });
      await send.click();
      await expect(page.getByText(text(language, "contact.error.name"))).toBeVisible();
      await expectAccessibleInBothSchemes(page);

      await page.route("**/functions/v1/submit-contact", (route) =>
        route.fulfill({ status: 500, json: { success: false, error: "no" } }),
      );
      await fillForm(page, language);
      await hold(page.getByText(text(language, "contact.toast.errorBody")));
      await expectAccessibleInBothSchemes(page);

      await page.unrouteAll();
      await send.click();
      await hold(page.getByText(text(language, "contact.toast.sentBody")));
      await expect(
        page.getByRole("heading", { name: text(language, "contact.success.title") }),
      ).toBeVisible();
      await expectAccessibleInBothSchemes(page);
    });

    test(`axe: the sign-in page's errors and alert in ${language}`, async ({ page, demo }) => {
      await page.goto(demo.url + inLanguage(language, "/admin/auth"));
      const submit = page.getByRole("button", { name: text(language, "auth.submit"), exact: true });
      await submit.click();
      await expect(page.getByText(text(language, "auth.emailRequired"))).toBeVisible();
      await expectAccessibleInBothSchemes(page);
      await page.getByLabel(text(language, "auth.email")).fill("somebody@example.com");
      await page.getByLabel(text(language, "auth.password"), { exact: true }).fill("not it");
      await submit.click();
      await expect(page.getByRole("alert")).toContainText(text(language, "auth.error.credentials"));
      await expectAccessibleInBothSchemes(page);
    });

    test(`axe: the dashboard menu, the admin pages and their dialogs in ${language}`, async ({
      page,
      demo,
    }) => {
      const sent = await asAnon(demo).functions.invoke("submit-contact", {
        body: { name: "Rui", email: "rui@example.com", message: "Do you ship to Norway?" },
      });
      expect(sent.error).toBeNull();
      await signIn(page, demo, language);
      await hold(page.getByText(text(language, "auth.welcomeBody")));
      await expectAccessibleInBothSchemes(page);

      await page
        .getByRole("banner")
        .getByRole("link", { name: text(language, "nav.dashboard"), exact: true })
        .hover();
      const overview = page
        .getByRole("banner")
        .getByRole("link", { name: text(language, "nav.overview") });
      await expect(overview).toBeVisible();
      await expectAccessibleInBothSchemes(page);
      await overview.click();

      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole("button", { name: text(language, "nav.menu"), exact: true }).click();
      await expect(
        page.getByRole("banner").getByRole("link", { name: text(language, "nav.coverImages") }),
      ).toBeVisible();
      await expectAccessibleInBothSchemes(page);
      await page.keyboard.press("Escape");
      await page.setViewportSize({ width: 1280, height: 720 });

      const openers: Record<string, RegExp[]> = {
        "/admin": [],
        "/admin/products": [
          new RegExp(text(language, "products.add")),
          new RegExp(text(language, "products.deleteNamed", { title: "Onda" })),
        ],
        "/admin/reviews": [
          new RegExp(text(language, "reviews.add")),
          new RegExp(text(language, "reviews.deleteNamed", { name: "Beatriz" })),
        ],
        "/admin/cover-images": [new RegExp(`^${text(language, "common.delete")}`)],
        "/admin/contact-messages": [],
      };
      for (const [path, buttons] of Object.entries(openers)) {
        await page.goto(demo.url + inLanguage(language, path));
        await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
        await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
        await expectAccessibleInBothSchemes(page);
        for (const name of buttons) {
          await page.getByRole("button", { name }).first().click();
          const dialog = page.getByRole("dialog").or(page.getByRole("alertdialog"));
          await expect(dialog).toBeVisible();
          await expectAccessibleInBothSchemes(page);
          await page.keyboard.press("Escape");
          await expect(dialog).toBeHidden();
        }
      }
      await page.getByRole("button", { name: /Rui/ }).first().click();
      await expect(page.getByText("Do you ship to Norway?").last()).toBeVisible();
      await expectAccessibleInBothSchemes(page);
    });
  });
}
