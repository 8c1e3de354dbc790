// The site with scripts off: what there is to read and where it leads; the contact form's plain POST is answered with a
// page, in both languages, under the same rules.
import type { Page } from "@playwright/test";

import { asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { expect, expectAccessible, expectNoSidewaysScroll, test } from "./fixtures.ts";
import { inLanguage, type Language, languages, text } from "./texts.ts";

// The browser's own note on a page whose status is 400.
test.use({ allowedConsole: [/status of 400 .*\/functions\/v1\/submit-contact/] });

const message = "Uma parede de 6 × 3 metros.\n<b>Já</b>";
const address = "/functions/v1/submit-contact";
const at = (language: Language) => (language === "pt" ? `${address}?lang=pt` : address);

type Look = (page: Page, name: string) => Promise<void>;

const onBothWidths: Look = async (page, name) => {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [390, 1440]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await expectNoSidewaysScroll(page);
      if (process.env.SCREENSHOTS)
        await page.screenshot({
          path: `${process.env.SCREENSHOTS}/${name}-${width}-${colorScheme}.png`,
          fullPage: true,
        });
    }
  }
};

const withAxe: Look = async (page) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
};

async function fillIn(page: Page, language: Language, name: string): Promise<void> {
  await page.getByLabel(text(language, "contact.form.name")).fill(name);
  await page.getByLabel(text(language, "contact.form.email")).fill("ines@example.com");
  await page.getByRole("textbox", { name: text(language, "contact.form.message") }).fill(message);
}

const send = (page: Page, language: Language) =>
  page.getByRole("button", { name: text(language, "contact.form.send") }).click();

async function stored(server: Server) {
  const { data, error } = await asService(server)
    .from("contact_submissions")
    .select("name, message, reason");
  if (error) throw error;
  return data;
}

async function refusedCorrectedAndSent(page: Page, language: Language, look: Look): Promise<void> {
  const server = await startServer("sqlite");
  try {
    await page.goto(server.url + at(language));
    await expect(page.locator("html")).toHaveAttribute("lang", language);
    await look(page, `${language}-form`);

    await fillIn(page, language, "I");
    await send(page, language);
    const name = page.getByLabel(text(language, "contact.form.name"));
    await expect(name).toHaveAccessibleDescription(text(language, "contact.error.name"));
    await expect(name).toHaveValue("I");
    await expect(name).toBeFocused();
    await expect(
      page.getByRole("textbox", { name: text(language, "contact.form.message") }),
    ).toHaveValue(message);
    await expect(page.getByRole("alert")).toBeVisible();
    await look(page, `${language}-wrong`);
    expect(await stored(server)).toEqual([]);

    await name.fill("Inês");
    await send(page, language);
    await expect(
      page.getByRole("heading", { name: text(language, "contact.success.title") }),
    ).toBeVisible();
    await expect(page.locator("html")).toHaveAttribute("lang", language);
    await look(page, `${language}-sent`);
    expect(await stored(server)).toEqual([{ name: "Inês", message, reason: "general" }]);

    await page.getByRole("link", { name: text(language, "contact.success.again") }).click();
    await expect(name).toHaveValue("");
  } finally {
    await page.goto("about:blank");
    await server.stop();
  }
}

test.describe("with scripts off", () => {
  test.use({ javaScriptEnabled: false });
  for (const language of languages) {
    test(`a message is refused with reasons, corrected and sent, in ${language}`, async ({
      page,
    }) => {
      await refusedCorrectedAndSent(page, language, onBothWidths);
    });
  }

  test("the form as the site's own page holds it, sent as a multipart form", async ({ page }) => {
    const server = await startServer("sqlite");
    try {
      // The page of a form that the server has drawn, with the field names and the address of the site's form.
      await page.route(`${server.url}/a-page`, (route) =>
        route.fulfill({
          contentType: "text/html",
          body: `<!doctype html><title>t</title>
            <form action="${address}" method="post" enctype="multipart/form-data">
            <input type="hidden" name="language" value="pt"><input name="name" value="Inês">
            <input name="email" value="ines@example.com"><textarea name="message">Bom dia, uma parede.</textarea>
            <input name="reason" value=""><button>Enviar</button></form>`,
        }),
      );
      await page.goto(`${server.url}/a-page`);
      await page.getByRole("button", { name: "Enviar" }).click();
      await expect(
        page.getByRole("heading", { name: text("pt", "contact.success.title") }),
      ).toBeVisible();
      expect(await stored(server)).toHaveLength(1);
    } finally {
      await page.goto("about:blank");
      await server.stop();
    }
  });
});

// Axe itself needs scripts; the pages have none, so they are the same.
test("the plain pages are accessible in both languages and schemes", async ({ page }) => {
  test.setTimeout(120_000); // axe reads the whole page each time, some seconds on a slow machine
  for (const language of languages) await refusedCorrectedAndSent(page, language, withAxe);
});

const works = (page: Page) =>
  page.getByRole("listitem").getByRole("link", { name: /^(Open|Abrir) / });

test.describe("the site with scripts off", () => {
  test.use({ javaScriptEnabled: false });
  for (const language of languages) {
    test(`home, gallery and a work are read whole, and everything leads on, in ${language}`, async ({
      page,
      demo,
    }) => {
      const t = (key: Parameters<typeof text>[1], vars = {}) => text(language, key, vars);
      const other = language === "en" ? "pt" : "en";
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(demo.url + inLanguage(language, "/"));
        await onBothSchemes(page, `${language}-home-${width}`);
        await expect(page.locator("[data-hero] img").first()).toHaveJSProperty("complete", true);
        for (const key of [
          "testimonials.trustedBy",
          "testimonials.title",
          "about.title",
          "contact.title",
        ] as const)
          await expect(page.getByRole("heading", { name: t(key) })).toBeVisible();
        await expect(
          page.getByText("greet the fish by name on their way down to breakfast"),
        ).toBeVisible();
        await expect(works(page)).toHaveCount(8);
        // Nothing is offered that does nothing.
        await expect(page.locator("button[type=button]:not([aria-haspopup]):visible")).toHaveCount(
          0,
        );
        if (width === 390) await page.locator("summary").click();
        const bar = page.locator("header");
        await bar.getByRole("link", { name: t("nav.contact"), exact: true }).click();
        await expect(page.getByRole("heading", { name: t("contact.title") })).toBeInViewport();
        await bar.getByRole("link", { name: t("nav.switchLanguage") }).click();
        await expect(page.locator("html")).toHaveAttribute("lang", other);

        await page.goto(demo.url + inLanguage(language, "/gallery/all"));
        await onBothSchemes(page, `${language}-gallery-${width}`);
        await expect(works(page)).toHaveCount(22);
        await page
          .getByRole("navigation", { name: t("gallery.filters") })
          .getByRole("link", { name: t("gallery.filter.mural") })
          .click();
        await expect(page.locator("html")).toHaveAttribute("lang", language);
        await expect(works(page)).toHaveCount(6);
        await page
          .getByRole("link", { name: t("gallery.open", { title: "Sol de inverno" }) })
          .click();
        const work = page.getByRole("article", { name: "Sol de inverno" });
        await expect(work.getByText("14 × 7 m")).toBeVisible();
        await expect(work.getByRole("img", { name: "Sol de inverno" })).toBeInViewport();
        await onBothSchemes(page, `${language}-work-${width}`);
        await work.getByRole("link", { name: t("gallery.seeAll") }).click();
        await expect(work).toHaveCount(0);
        await expect(works(page)).toHaveCount(22);
      }
    });
  }
});

async function onBothSchemes(page: Page, name: string): Promise<void> {
  await expectNoSidewaysScroll(page);
  if (!process.env.SCREENSHOTS) return;
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${colorScheme}.png` });
  }
  await page.emulateMedia({ colorScheme: "light" });
}

// Axe needs scripts: here those of the page alone are kept away, and what browsers without scripts make of noscript is done.
test("what the server draws for browsers without scripts is accessible", async ({ page, demo }) => {
  test.setTimeout(120_000);
  await page.route(/\/assets\/.*\.js$/, (route) =>
    route.fulfill({ body: "", contentType: "text/javascript" }),
  );
  for (const language of languages)
    for (const path of ["/", "/gallery/mural"])
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: width === 390 ? "dark" : "light" });
        await page.goto(demo.url + inLanguage(language, path), { waitUntil: "load" });
        if (path !== "/") {
          const href = await works(page).first().getAttribute("href");
          await page.goto(demo.url + href!, { waitUntil: "load" });
        }
        await page.evaluate(() => {
          for (const element of document.querySelectorAll("noscript")) {
            const place = document.createElement("div");
            place.className = element.className || "contents";
            place.innerHTML = element.textContent ?? "";
            element.replaceWith(place);
          }
        });
        await expectAccessible(page);
      }
});
