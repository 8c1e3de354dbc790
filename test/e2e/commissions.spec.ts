// What visitors read about commissions: the owner sets it on a phone; it is shown beside the contact form and at a
// work, with and without scripts, in both languages.
import type { Locator, Page } from "@playwright/test";

import { asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { findWork, saveSite } from "./conversations.ts";
import {
  blockSiteScripts,
  expect,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  showNoscript,
  test,
  waitUntilInteractive,
} from "./fixtures.ts";
import { inLanguage, type Language, languages, repetition, text } from "./texts.ts";

const ownerTexts = {
  accepts: "Murals up to 40 m², and portraits of houses.",
  declines: "Logos, and copies of other artists' work.",
  prices: "Small watercolours from 300 €\nMurals from 120 € a square metre",
  leadTime: "Six to ten weeks",
  steps: "We talk about the place\nI send two sketches\nYou choose, and I paint",
  terms: "Half is paid at the start, the rest when the work hangs.",
};

let server: Server;

test.use({ timezoneId: "Europe/Lisbon", contextOptions: { reducedMotion: "reduce" } });
test.beforeAll(async ({ demoFolder }) => {
  server = await startServer("sqlite", { demo: demoFolder });
});
test.afterAll(() => server.stop());

/** Saves this state of commissions, with all texts in English and only the prices in Portuguese. */
async function saveState(state: "" | "open" | "waitlist" | "closed"): Promise<void> {
  const texts = { en: ownerTexts, pt: { prices: "Aguarelas desde 300 €" } };
  await saveSite(server, { commissions: { state, texts } });
}

const block = (page: Page, language: Language, state: "open" | "waitlist" | "closed") =>
  page.getByRole("region", { name: text(language, `commissions.${state}`) });

/** Checks an element at all widths. Saves screenshots if SCREENSHOTS names a folder. */
async function checkElement(page: Page, element: Locator, name: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [390, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoSidewaysScroll(page);
      await element.evaluate((shown) => shown.scrollIntoView({ block: "center" }));
      if (process.env.SCREENSHOTS)
        await page.screenshot({
          animations: "disabled",
          path: `${process.env.SCREENSHOTS}/${name}-${width}-${colorScheme}.png`,
        });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 390, height: 844 });
}

test.describe("without scripts", () => {
  // The test changes the size of the window while the browser waits to see which preloads are used. Each shape of the window
  // preloads its own cut of the first cover, so on a busy machine the browser may warn of a cut that another one replaced.
  test.use({
    javaScriptEnabled: false,
    viewport: { width: 390, height: 844 },
    allowedConsole: [/cover-images\/.* was preloaded using link preload but not used/],
  });

  for (const language of languages)
    test(`S2-commission-1 S2-commission-2: the server renders the state of commissions, in ${repetition(language)}`, async ({
      page,
    }) => {
      const home = server.url + inLanguage(language, "/");
      const { id: customizable } = await findWork(server);
      const work = server.url + inLanguage(language, `/gallery/all?art=${customizable}`);
      await saveState("");
      // Without the date, so that the test may run at midnight.
      const html = async () => (await (await fetch(home)).text()).replace(/"today":"[\d-]+"/, "");
      const before = await html();
      expect(before).not.toContain("ommission something");
      expect(before).not.toContain('"commissions"');

      await saveState("open");
      await page.goto(`${home}#contact`);
      const section = block(page, language, "open");
      await expect(section).toBeVisible();
      await expect(section.getByText(ownerTexts.leadTime)).toBeVisible();
      await expect(section.getByRole("listitem")).toHaveText(ownerTexts.steps.split("\n"));
      if (language === "pt") {
        await expect(section.getByText("Aguarelas desde 300 €")).not.toHaveAttribute("lang");
        await expect(section.getByText(ownerTexts.terms)).toHaveAttribute("lang", "en");
      }
      await checkElement(page, section, `home-open-${language}`);

      await page.goto(work);
      const link = page.getByRole("link", { name: text(language, "work.commission") });
      await expect(link).toBeVisible();
      // Inside the article, because getByText on the page skips the content of noscript.
      const article = page.getByRole("article");
      await expect(article.getByText(text(language, "work.open"))).toBeVisible();
      await checkElement(page, link, `work-open-${language}`);
      await link.click();
      await expect(page).toHaveURL(server.url + inLanguage(language, "/") + "#contact");

      await saveState("closed");
      await page.goto(work);
      await expect(page.getByRole("link", { name: text(language, "gallery.ask") })).toBeVisible();
      await expect(article.getByText(text(language, "work.closed"))).toBeVisible();
      await page.goto(home);
      await checkElement(page, block(page, language, "closed"), `home-closed-${language}`);
      await saveState("waitlist");
      await page.goto(home);
      await checkElement(page, block(page, language, "waitlist"), `home-waitlist-${language}`);

      await saveState("");
      expect(await html()).toBe(before);
    });
});

test("S2-commission-1 S2-commission-2: the HTML of the server is accessible", async ({ page }) => {
  await saveState("open");
  await blockSiteScripts(page);
  const { id } = await findWork(server);
  for (const language of languages)
    for (const path of ["/", `/gallery/all?art=${id}`]) {
      await page.goto(server.url + inLanguage(language, path), { waitUntil: "load" });
      await showNoscript(page);
      await expect(
        path === "/" ? block(page, language, "open") : page.getByText(text(language, "work.open")),
      ).toBeVisible();
      await expectAccessibleInBothSchemes(page);
      await page.emulateMedia({ colorScheme: "light" });
    }
});

test.describe("with scripts", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("S2-commission-2 S2-contact-work AM-open-5: a visitor asks for a work like one in the gallery, in pt", async ({
    page,
  }) => {
    const language = "pt";
    await saveState("waitlist");
    const plain = await findWork(server, false);
    await page.goto(server.url + inLanguage(language, `/gallery/all?art=${plain.id}`));
    const dialog = page.getByRole("dialog");
    await expect(dialog.getByRole("button", { name: text(language, "gallery.ask") })).toBeVisible();
    await expect(dialog.getByText(text(language, "work.waitlist"))).toBeHidden();

    const { id: customizable, title } = await findWork(server);
    await page.goto(server.url + inLanguage(language, `/gallery/all?art=${customizable}`));
    const button = dialog.getByRole("button", { name: text(language, "work.commission") });
    await expect(button).toBeVisible();
    await expect(dialog.getByText(text(language, "work.waitlist"))).toBeVisible();
    await checkElement(page, button, `dialog-${language}`);
    await expectAccessibleInBothSchemes(page);
    await button.click();
    const form = page.locator("#contact form");
    const message = form.getByLabel(text(language, "contact.form.message"));
    await expect(message).toBeFocused();
    await expect(block(page, language, "waitlist")).toBeAttached(); // it loads with the form
    await expect(form.getByText(text(language, "enquiry.about"))).toBeVisible();
    const picture = form.locator("img");
    await expect(picture).toBeVisible();
    await checkElement(page, picture, `form-${language}`);
    await expectAccessibleInBothSchemes(page);

    // After the work was removed and chosen again, the message names it once.
    await form.getByRole("button", { name: text(language, "enquiry.remove") }).click();
    await expect(message).toHaveValue("");
    await expect(message).toBeFocused();
    await page.goto(server.url + inLanguage(language, `/gallery/all?art=${customizable}`));
    await button.click();
    await expect(message).toBeFocused();
    await message.pressSequentially("how large can it be?");
    await form.getByLabel(text(language, "contact.form.name")).fill(`Ana ${language}`);
    await form.getByLabel(text(language, "contact.form.email")).fill("ana@example.com");
    await form.getByRole("button", { name: text(language, "contact.form.send") }).click();
    await expect(
      page.getByRole("heading", { name: text(language, "contact.success.title") }),
    ).toBeVisible();
    const stored = await asService(server)
      .from("contact_submissions")
      .select("reason, artwork_id")
      .eq("name", `Ana ${language}`);
    expect(stored.data).toEqual([{ reason: "commission", artwork_id: customizable }]);

    // The owner's message shows which work it is about.
    await signInAt(page, server, "/admin/contact-messages", language);
    await page.getByRole("button", { name: `Ana ${language}` }).click();
    const details = page.getByRole("definition"); // in a dialog, and beside the list on wide screens
    await expect(details.locator("img")).toBeVisible();
    await expect(details.getByRole("link", { name: title })).toHaveAttribute(
      "href",
      inLanguage(language, `/admin/products?q=${encodeURIComponent(title)}`),
    );
    await checkElement(page, details.locator("img"), `inbox-${language}`);
    await expectAccessibleInBothSchemes(page);
  });

  test("A-set-commissions A-set-response: the owner sets the state on a phone, and visitors read it at the next load", async ({
    page,
    context,
  }) => {
    await saveState("");
    await signInAt(page, server, "/admin/settings");
    const field = (label: string) => page.getByLabel(label, { exact: true });
    const group = page.getByRole("region", { name: text("en", "settings.group.commissions") });
    await field(text("en", "settings.commissionsState")).selectOption("open");
    await field("Prices").fill("from 250 €");
    await expect(field(text("en", "settings.responseTime"))).toHaveAccessibleDescription(
      /ten messages are marked as replied/,
    );
    await checkElement(page, group, "admin");
    await expectAccessibleInBothSchemes(page);
    await page.getByRole("button", { name: text("en", "settings.preview") }).click();
    const preview = page.getByRole("dialog");
    await expect(block(page, "en", "open")).toBeVisible();
    await expect(preview.getByText("from 250 €")).toBeVisible();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: text("en", "common.saveChanges") }).click();
    await expect(page.getByText(text("en", "settings.toast.saved"))).toBeVisible();
    const visitor = await context.newPage();
    await visitor.goto(server.url); // without a move
    await expect(block(visitor, "en", "open").getByText("from 250 €")).toBeAttached();
  });

  test("S2-commission-1: a session that becomes known before the visitor moves leaves what the server has drawn", async ({
    page,
  }) => {
    await saveState("open");
    await signInAt(page, server, "/health/live"); // a page that does not request the role itself
    await page.addInitScript(() => {
      addEventListener("DOMContentLoaded", () => {
        const form = document.querySelector("#contact form");
        new MutationObserver(() => {
          if (form && !form.isConnected) document.documentElement.dataset.formReplaced = "";
        }).observe(document, { subtree: true, childList: true });
      });
    });
    const roleKnown = page.waitForResponse(/\/rest\/v1\/user_roles/);
    await page.goto(server.url, { waitUntil: "commit" }); // without a move
    await roleKnown;
    await waitUntilInteractive(page);
    await expect(page.getByRole("banner").getByText(text("en", "nav.dashboard"))).toBeAttached();
    await expect(block(page, "en", "open")).toBeAttached();
    await expect(page.locator("html")).not.toHaveAttribute("data-form-replaced");
  });
});
