// The owner's texts in both languages: edited side by side, and shown in the language of the page, with and without
// scripts.
import type { Locator, Page } from "@playwright/test";

import { asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import {
  expect,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  finishAnimations,
  test,
} from "./fixtures.ts";
import { inLanguage, type Language, languages, repetition, text } from "./texts.ts";

let server: Server;

test.use({ contextOptions: { reducedMotion: "reduce" } });
test.beforeAll(async ({ demoFolder }) => {
  server = await startServer("sqlite", { demo: demoFolder });
});
test.afterAll(() => server.stop());

const inPortuguese = (language: Language, label: string) =>
  text(language, "form.inPortuguese", { label });

/** Checks the page at three widths. */
async function expectGoodAtAllWidths(page: Page, name: string, scrollTo?: Locator): Promise<void> {
  for (const width of [1440, 768, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await expectNoSidewaysScroll(page);
    await scrollTo?.scrollIntoViewIfNeeded();
    await expectAccessibleInBothSchemes(page, async (scheme) => {
      if (!process.env.SCREENSHOTS) return;
      await finishAnimations(page);
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${width}-${scheme}.png` });
    });
    await page.emulateMedia({ colorScheme: "light" });
  }
}

for (const language of languages)
  test(`A-two-languages A-alt-texts: the owner enters a work in both languages, on a phone and on a desktop, in ${repetition(language)}`, async ({
    page,
  }) => {
    const say = (key: Parameters<typeof text>[1], vars?: Record<string, string | number>) =>
      text(language, key, vars);
    const works = asService(server).from("products");
    const columns =
      "id, title, title_pt, description_pt, medium_pt, dimensions_pt, image_url, alt_texts";
    await works
      .update({ title_pt: null, description_pt: null, alt_texts: null })
      .eq("title", "Onda");
    await signInAt(page, server, "/admin/products?q=Onda", language);
    await page
      .getByRole("button", { name: say("products.editNamed", { title: "Onda" }), exact: true })
      .locator("visible=true")
      .click();
    const form = page.getByRole("dialog");
    const field = (label: string) => form.getByRole("textbox", { name: label, exact: true });

    // One press copies the title into the other language, and the other field gets the focus.
    await form
      .getByRole("button", { name: say("form.copyToPortuguese", { label: say("products.title") }) })
      .click();
    await expect(field(inPortuguese(language, say("products.title")))).toHaveValue("Onda");
    await expect(field(inPortuguese(language, say("products.title")))).toBeFocused();
    await field(inPortuguese(language, say("products.title"))).fill("Onda, vista de cima");
    await field(inPortuguese(language, say("products.description"))).fill("Uma onda\nde cima.");
    await field(inPortuguese(language, say("gallery.medium"))).fill("Pintura digital");
    await expect(field(say("products.title"))).toHaveAccessibleDescription(say("form.english"));
    await expectGoodAtAllWidths(page, `work-form-${language}`);

    await form.locator("summary", { hasText: say("products.altTexts") }).click();
    const alt = say("products.altOf", { n: 1 });
    await form.getByRole("button", { name: say("products.altSuggestFor", { n: 1 }) }).click();
    await expect(field(alt)).toHaveValue("Onda, Digital painting");
    await field(inPortuguese(language, alt)).fill("Uma onda azul");
    await expectGoodAtAllWidths(page, `work-form-alt-${language}`, field(alt));
    await form.getByRole("button", { name: say("common.saveChanges") }).click();
    await expect(form).toBeHidden();
    const { data } = await works.select(columns).eq("title", "Onda").single();
    expect(data).toMatchObject({
      title_pt: "Onda, vista de cima",
      description_pt: "Uma onda\nde cima.",
      medium_pt: "Pintura digital",
      dimensions_pt: null,
      alt_texts: { [data!.image_url]: { en: "Onda, Digital painting", pt: "Uma onda azul" } },
    });
  });

test("A-two-languages: the owner enters covers and reviews in both languages", async ({ page }) => {
  await signInAt(page, server, "/admin/cover-images");
  const card = page
    .getByRole("listitem")
    .filter({ has: page.locator("form") })
    .first();
  await card.getByRole("textbox", { name: "Title in Portuguese" }).fill("Capa em português");
  await card.getByRole("textbox", { name: "Alternative text", exact: true }).fill("A harbour");
  await expectGoodAtAllWidths(page, "covers", card);
  await card.getByRole("button", { name: text("en", "common.save"), exact: true }).click();
  await expect(page.getByText(text("en", "covers.toast.updated"))).toBeVisible();

  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${server.url}/admin/reviews`);
  await page
    .getByRole("button", { name: text("en", "reviews.editNamed", { name: "Beatriz" }) })
    .locator("visible=true")
    .click();
  const form = page.getByRole("dialog");
  await form.getByRole("textbox", { name: "Message in Portuguese" }).fill("Ficou como eu a via.");
  await expectGoodAtAllWidths(page, "review-form");
  await form.getByRole("button", { name: text("en", "common.saveChanges") }).click();
  await expect(form).toBeHidden();

  const hero = page.locator("[data-hero]");
  for (const language of languages) {
    await page.goto(server.url + inLanguage(language, "/"));
    const title = hero.locator("p.text-display").first();
    await expect(title).not.toHaveAttribute("lang");
    if (language === "pt") await expect(title).toHaveText("Capa em português");
    else await expect(title).not.toHaveText("Capa em português");
    // The alternative text exists only in English.
    const picture = hero.getByRole("img", { name: "A harbour" });
    if (language === "pt") await expect(picture).toHaveAttribute("lang", "en");
    else await expect(picture).not.toHaveAttribute("lang");
    const review = page.locator("#testimonials").getByRole("button").filter({ hasText: "Beatriz" });
    const message = review.locator("span").first();
    await expect(message).not.toHaveAttribute("lang");
    if (language === "pt") await expect(message).toHaveText("«Ficou como eu a via.»");
    const other = page.locator("#testimonials").getByRole("button").filter({ hasText: "Tomás" });
    // A review without any text in Portuguese may be in either language.
    await expect(other.locator("span").first()).not.toHaveAttribute("lang");
  }
});

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? "with scripts" : "without scripts", () => {
    test.use({ javaScriptEnabled });

    test(`S9-texts: the page of a work and its card are in the language of the page, ${javaScriptEnabled ? "with" : "without"} scripts`, async ({
      page,
    }) => {
      const works = asService(server).from("products");
      const { data } = await works.select("id, image_url").eq("title", "Onda").single();
      const { id, image_url } = data!;
      await works
        .update({
          title_pt: "Onda, vista de cima",
          description_pt: "Uma onda\nde cima.",
          medium_pt: null,
          alt_texts: { [image_url]: { pt: "Uma onda azul" } },
        })
        .eq("id", id);
      for (const [language, title, description] of [
        ["en", "Onda", "A wave from above, where it looks least like one."],
        ["pt", "Onda, vista de cima", "Uma onda de cima."],
      ] as const) {
        await page.goto(server.url + inLanguage(language, `/gallery/digital?art=${id}`));
        const work = javaScriptEnabled ? page.getByRole("dialog") : page.getByRole("article");
        await expect(work.getByRole("heading", { name: title, exact: true })).toBeVisible();
        await expect(work.getByText(description)).toBeVisible();
        const picture = work.getByRole("img", { name: "Uma onda azul" });
        await expect(picture).toBeVisible();
        const medium = work.locator("dd", { hasText: /^Digital painting$/ });
        // A text in the other language is marked with that language.
        if (language === "pt") {
          await expect(medium).toHaveAttribute("lang", "en");
          await expect(picture).not.toHaveAttribute("lang");
        } else {
          await expect(picture).toHaveAttribute("lang", "pt");
          await expect(medium).not.toHaveAttribute("lang");
        }
        const card = page.locator(`main a[href*="/gallery/all?art=${id}"]`).first();
        await expect(card.locator("span[lang]", { hasText: title })).toHaveCount(0);
        await expect(card).toContainText(title);
        if (javaScriptEnabled) await expectGoodAtAllWidths(page, `work-${language}`);
      }
      if (!javaScriptEnabled) return;
      await page.goto(server.url + inLanguage("pt", "/gallery/digital"));
      await expect(page.locator(`a[href*="art=${id}"]`)).toContainText("Digital painting");
      await expectGoodAtAllWidths(page, "gallery-pt");
    });
  });

test("A-missing-texts: the overview counts missing texts and links to the works without them", async ({
  page,
}) => {
  await asService(server).from("products").update({ title_pt: "x" }).neq("title", "Onda");
  await asService(server).from("products").update({ title_pt: null }).eq("title", "Onda");
  await signInAt(page, server, "/admin");
  const link = page.getByRole("link", { name: /^Works without a Portuguese title 1$/ });
  await expect(link).toBeVisible();
  await expectGoodAtAllWidths(page, "overview", link);
  await page.setViewportSize({ width: 1440, height: 900 });
  await link.click();
  await expect(page.getByRole("row")).toHaveCount(2); // the row of headings and one work
  await expect(page.getByRole("row").filter({ hasText: "Onda" })).toBeVisible();
  await page.goto(`${server.url}/admin/products?show=no-alt-texts`);
  await expect(page.getByRole("row").first()).toBeVisible();
});

test.describe("a browser that prefers Portuguese", () => {
  test.use({ locale: "pt-PT" });

  test("S9-offer: the page offers its Portuguese version in one line, and stores nothing", async ({
    page,
    context,
  }) => {
    await page.goto(`${server.url}/`);
    const link = page
      .getByRole("complementary")
      .getByRole("link", { name: text("en", "nav.switchLanguage"), exact: true });
    await expect(link).toBeVisible();
    await expectGoodAtAllWidths(page, "offer");
    const close = page
      .getByRole("complementary")
      .getByRole("button", { name: text("en", "nav.close") });
    await close.press("Enter");
    await expect(link).toHaveCount(0);
    expect(await context.cookies()).toEqual([]);
    expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 0]);

    await page.goto(`${server.url}/gallery/mural?x=1`);
    await page.mouse.move(100, 100); // the offer appears after the first move
    await link.click();
    await expect(page).toHaveURL(/\/gallery\/mural\?x=1&lang=pt$/);
    await expect(page.locator("html")).toHaveAttribute("lang", "pt");
    await expect(page.getByRole("complementary")).toHaveCount(0);
  });
});

test("S9-offer: a browser that prefers English gets no offer", async ({ page }) => {
  await page.goto(`${server.url}/`);
  const prefetched = page.waitForRequest(/\/rest\/v1\/products/); // by the code that offers the language
  await page.locator('header a[href^="/gallery"]').first().hover();
  await prefetched;
  await expect(page.getByRole("complementary")).toHaveCount(0);
});
