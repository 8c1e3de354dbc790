// axe finds no violation on any page, dialog, menu or toast, in both languages and both colour schemes.
import type { Page } from "@playwright/test";

import { asAnon } from "../harness/clients.ts";
import type { Server } from "../harness/server.ts";
import {
  expect,
  expectAccessible,
  expectAccessibleInBothSchemes,
  finishAnimations,
  keepToastOpen,
  loadAllPictures,
  test,
} from "./fixtures.ts";
import { inLanguage, type Language, languages, repetition, text } from "./texts.ts";

// Console messages of the browser for the missing page, the refused sign-in and the failed message. One expression,
// because Playwright treats a list whose second entry is an object as a value with options.
test.use({
  // A slide that fades while axe runs has less contrast.
  contextOptions: { reducedMotion: "reduce" },
  allowedConsole: [
    /status of (404 .*\/nothing\/here|400 .*\/auth\/v1\/token|500 .*\/submit-contact)/,
  ],
});

/** Signs in by keyboard, so that the pointer stays where it waits for the toast. */
async function signIn(page: Page, demo: Server, language: Language): Promise<void> {
  await page.goto(demo.url + inLanguage(language, "/admin/auth"));
  await page.getByLabel(text(language, "auth.email")).fill(demo.owner!.email);
  await page
    .getByLabel(text(language, "auth.password"), { exact: true })
    .fill(demo.owner!.password);
  await page
    .getByRole("button", { name: text(language, "auth.submit"), exact: true })
    .press("Enter");
  await expect(page).toHaveURL(/\/admin$/);
}

async function fillForm(page: Page, language: Language): Promise<void> {
  const form = page.locator("#contact form");
  await form.getByLabel(text(language, "contact.form.name")).fill("Inês");
  await form.getByLabel(text(language, "contact.form.email")).fill("ines@example.com");
  await form.getByLabel(text(language, "contact.form.message")).fill("Uma parede de 6 × 3 metros.");
  await form.getByRole("button", { name: text(language, "contact.form.send") }).press("Enter");
}

/**
 * Moves the pointer to where toasts appear. A toast under the pointer stays open, so the test has time to examine it.
 */
async function movePointerToToasts(page: Page): Promise<void> {
  await page.mouse.move(120, page.viewportSize()!.height - 60);
}

const desktop = { width: 1280, height: 720 };
const phone = { width: 390, height: 844 };
const pages = [
  "/",
  "/gallery",
  "/gallery/all",
  "/gallery/digital",
  "/gallery/mural",
  "/gallery/watercolour",
  "/gallery/sculpture",
  "/politica-privacidade",
  "/admin/auth",
  "/admin/auth?setup=not-a-link",
  "/nothing/here",
];

for (const language of languages) {
  test.describe(repetition(language), () => {
    test(`S2-route-2: axe: every page in ${language}, also on a phone`, async ({ page, demo }) => {
      for (const path of pages)
        await test.step(path, async () => {
          await page.setViewportSize(desktop);
          await page.goto(demo.url + inLanguage(language, path));
          await expect(page.locator("html")).toHaveAttribute("lang", language);
          await expect(page.getByRole("heading", { level: 1 })).toBeAttached();
          await loadAllPictures(page);
          await expectAccessibleInBothSchemes(page);
          await page.setViewportSize(phone);
          await finishAnimations(page);
          await expectAccessible(page);
        });
    });

    test(`axe: the open dialogs of works in ${language}, also on a phone`, async ({
      page,
      demo,
    }) => {
      await page.goto(demo.url + inLanguage(language, "/gallery/all"));
      for (const title of ["Telhados, manhã", "Noite no cais"])
        await test.step(title, async () => {
          await page.setViewportSize(desktop);
          await page.getByRole("link", { name: text(language, "gallery.open", { title }) }).click();
          const dialog = page.getByRole("dialog");
          await expect(dialog.getByRole("heading", { name: title })).toBeVisible();
          await expectAccessibleInBothSchemes(page);
          await page.setViewportSize(phone);
          await finishAnimations(page);
          await expectAccessible(page);
          await page.keyboard.press("Escape");
          await expect(dialog).toBeHidden();
        });
    });

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
        await expect(page.getByRole("link", { name: text(language, "type.all") })).toBeVisible();
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

    test(`axe: the form with errors, with its failure toast and after success, in ${language}`, async ({
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
      await movePointerToToasts(page);
      await fillForm(page, language);
      await keepToastOpen(page.getByText(text(language, "contact.toast.errorBody")));
      await expectAccessibleInBothSchemes(page);

      await page.unrouteAll();
      await send.press("Enter");
      await keepToastOpen(page.getByText(text(language, "contact.toast.sentBody")));
      await expect(
        page.getByRole("heading", { name: text(language, "contact.success.title") }),
      ).toBeVisible();
      await expectAccessibleInBothSchemes(page);
    });

    test(`axe: the sign-in page with field errors and an alert, in ${language}`, async ({
      page,
      demo,
    }) => {
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

    test(`A-dash-5 A-prod-17 A-rev-11: axe: the dashboard menu, the admin pages and their dialogs in ${language}`, async ({
      page,
      demo,
    }) => {
      const sent = await asAnon(demo).functions.invoke("submit-contact", {
        body: { name: "Rui", email: "rui@example.com", message: "Do you ship to Norway?" },
      });
      expect(sent.error).toBeNull();
      await movePointerToToasts(page);
      await signIn(page, demo, language);
      await keepToastOpen(page.getByText(text(language, "auth.welcomeBody")));
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible(); // the page's code may still be loading
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
        "/admin/guide": [],
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
