// The site without scripts, in both languages: its content, its links, and the POST of the contact form.
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import {
  blockSiteScripts,
  expect,
  expectAccessible,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  showNoscript,
  test,
} from "./fixtures.ts";
import { inLanguage, type Language, languages, repetition, text } from "./texts.ts";

// The browser's console message for a page with status 400 or 503.
test.use({ allowedConsole: [/status of (400 .*\/functions\/v1\/submit-contact|503 .*\?art=)/] });

const message = "Uma parede de 6 × 3 metros.\n<b>Já</b>";
const formPath = "/functions/v1/submit-contact";
const at = (language: Language) => (language === "pt" ? `${formPath}?lang=pt` : formPath);

type Check = (page: Page, name: string) => Promise<void>;

const checkBothWidths: Check = async (page, name) => {
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

const checkWithAxe: Check = (page) => expectAccessibleInBothSchemes(page);

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

async function refuseCorrectAndSend(page: Page, language: Language, check: Check): Promise<void> {
  const server = await startServer("sqlite");
  try {
    await page.goto(server.url + at(language));
    await expect(page.locator("html")).toHaveAttribute("lang", language);
    await check(page, `${language}-form`);

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
    await check(page, `${language}-wrong`);
    expect(await stored(server)).toEqual([]);

    await name.fill("Inês");
    await send(page, language);
    await expect(
      page.getByRole("heading", { name: text(language, "contact.success.title") }),
    ).toBeVisible();
    await expect(page.locator("html")).toHaveAttribute("lang", language);
    await check(page, `${language}-sent`);
    expect(await stored(server)).toEqual([{ name: "Inês", message, reason: "general" }]);

    await page.getByRole("link", { name: text(language, "contact.success.again") }).click();
    await expect(name).toHaveValue("");
  } finally {
    await page.goto("about:blank");
    await server.stop();
  }
}

/** Opens the page of a work that is not in the cache, while the database cannot be read. */
async function withoutDatabase(page: Page, ...checks: Check[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "atelie-test-"));
  const server = await startServer("sqlite", { env: { ATELIE_DATA_DIR: folder } });
  try {
    await page.goto(`${server.url}/gallery/mural`);
    for (const [name, head] of Object.entries({ "": 4096, "-wal": 4096, "-shm": 96 })) {
      const file = await open(join(folder, `atelie.db${name}`), "r+");
      await file.write(Buffer.alloc(head), 0, head, 0);
      await file.close();
    }
    const art = "00000000-0000-4000-8000-000000000001";
    const response = await page.goto(`${server.url}/gallery/mural?art=${art}`);
    expect(response!.status()).toBe(503);
    for (const language of languages)
      await expect(page.locator(`section[lang="${language}"] :is(h1, h2)`)).toBeVisible();
    for (const check of checks) await check(page, "unavailable");
  } finally {
    await page.goto("about:blank");
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

test.describe("with scripts off", () => {
  test.use({ javaScriptEnabled: false });
  for (const language of languages) {
    test(`FN-page-sent FN-page-wrong FN-page-looks P-plain-form: a message is refused with reasons, corrected and sent, in ${repetition(language)}`, async ({
      page,
    }) => {
      await refuseCorrectAndSend(page, language, checkBothWidths);
    });
  }

  test("FN-page-sent: the site's form is accepted as a multipart form", async ({ page }) => {
    const server = await startServer("sqlite");
    try {
      // A form rendered by the server, with the field names and the action of the site's form.
      await page.route(`${server.url}/a-page`, (route) =>
        route.fulfill({
          contentType: "text/html",
          body: `<!doctype html><title>t</title>
            <form action="${formPath}" method="post" enctype="multipart/form-data">
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

// axe needs scripts. The pages have none, so they are the same with scripts on.
test("FN-page-looks: the plain pages are accessible in both languages and schemes", async ({
  page,
}) => {
  for (const language of languages) await refuseCorrectAndSend(page, language, checkWithAxe);
  await withoutDatabase(page, checkWithAxe, checkBothWidths);
});

const works = (page: Page) =>
  page.getByRole("listitem").getByRole("link", { name: /^(Open|Abrir) / });

test.describe("the site with scripts off", () => {
  test.use({ javaScriptEnabled: false });
  for (const language of languages) {
    test(`P-plain-read: home, gallery and a work can be read completely, and all links work, in ${repetition(language)}`, async ({
      page,
      demo,
    }) => {
      const t = (key: Parameters<typeof text>[1], vars = {}) => text(language, key, vars);
      const other = language === "en" ? "pt" : "en";
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(demo.url + inLanguage(language, "/"));
        await checkBothSchemes(page, `${language}-home-${width}`);
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
        // No control without a function is shown.
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
        await checkBothSchemes(page, `${language}-gallery-${width}`);
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
        await checkBothSchemes(page, `${language}-work-${width}`);
        await work.getByRole("link", { name: t("gallery.seeAll") }).click();
        await expect(work).toHaveCount(0);
        await expect(works(page)).toHaveCount(22);
      }
    });
  }
});

async function checkBothSchemes(page: Page, name: string): Promise<void> {
  await expectNoSidewaysScroll(page);
  if (!process.env.SCREENSHOTS) return;
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${colorScheme}.png` });
  }
  await page.emulateMedia({ colorScheme: "light" });
}

test("P-plain-axe: the HTML for browsers without scripts is accessible", async ({ page, demo }) => {
  await blockSiteScripts(page);
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
        await showNoscript(page);
        await expectAccessible(page);
      }
});
