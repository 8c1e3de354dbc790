// The static copy in an archive of `atelie export`: its pages open from the disk in both languages, and request nothing
// from a server.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import type { Page } from "@playwright/test";

import { startServer } from "../harness/server.ts";
import { unzip } from "../harness/unzip.ts";
import { expect, expectAccessibleInBothSchemes, expectNoSidewaysScroll, test } from "./fixtures.ts";
import { type Language, languages, repetition, text } from "./texts.ts";

let folder: string;
test.beforeAll(async ({ demoFolder }) => {
  folder = await mkdtemp(join(tmpdir(), "atelie-copy-"));
  const server = await startServer("sqlite", { demo: demoFolder });
  const archive = join(folder, "site.zip");
  await server.command(["export", "--to", archive]);
  await server.stop();
  for (const [name, content] of await unzip(archive)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
});
test.afterAll(() => rm(folder, { recursive: true, force: true }));

/** Expects that every picture of the page and the site's font have loaded. */
async function expectComplete(page: Page): Promise<void> {
  const broken = await page.evaluate(async () => {
    const pictures = Array.from(document.images);
    for (const picture of pictures) picture.loading = "eager";
    await Promise.all(pictures.map((picture) => picture.decode().catch(() => undefined)));
    await document.fonts.ready;
    return pictures.filter((picture) => !picture.naturalWidth).map((picture) => picture.src);
  });
  expect(broken).toEqual([]);
  expect(await page.evaluate(() => document.fonts.check("16px Ysabeau"))).toBe(true);
}

async function checkPage(page: Page, name: string): Promise<void> {
  for (const width of [390, 768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await expectNoSidewaysScroll(page);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      if (process.env.SCREENSHOTS)
        await page.screenshot({
          path: `${process.env.SCREENSHOTS}/${name}-${width}-${colorScheme}.png`,
          fullPage: true,
        });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
}

async function visit(page: Page, language: Language): Promise<void> {
  const requestedUrls: string[] = [];
  page.on("request", (request) => requestedUrls.push(request.url()));
  page.on("requestfailed", (request) => requestedUrls.push(`failed: ${request.url()}`));
  const start = pathToFileURL(join(folder, language === "pt" ? "site/pt" : "site", "index.html"));
  const other = language === "pt" ? "en" : "pt";
  const check = async (name: string) => {
    await expect(page.locator("html")).toHaveAttribute("lang", language);
    await expectComplete(page);
    await checkPage(page, `${language}-${name}`);
    await expectAccessibleInBothSchemes(page);
  };
  await page.goto(start.href, { waitUntil: "load" });
  await expect(page.locator("script, form, noscript")).toHaveCount(0);
  await expect(page.locator("#contact")).toContainText("ola@alvor.example");
  await check("home");

  await page
    .getByRole("link", { name: text(language, "hero.exploreGallery"), exact: true })
    .click();
  await expect(page.getByRole("listitem").filter({ has: page.locator("img") })).toHaveCount(22);
  await check("gallery");
  await page
    .getByRole("navigation", { name: text(language, "gallery.filters") })
    .getByRole("link", { name: text(language, "gallery.filter.mural") })
    .click();
  await expect(page.locator("[role=listitem]")).toHaveCount(6);
  await page.getByRole("link", { name: /Sol de inverno/ }).click();
  await expect(page.getByRole("article")).toContainText("14 × 7 m");
  expect(new URL(page.url()).pathname).toContain("/works/sol-de-inverno.html");
  await check("work");
  // Opens the same work in the other language, and returns.
  await page.locator(`a[hreflang=${other}]`).first().click();
  await expect(page.locator("html")).toHaveAttribute("lang", other);
  await expect(page.getByRole("article")).toContainText("14 × 7 m");
  await page.locator(`a[hreflang=${language}]`).first().click();
  await page.locator("footer a[href$='politica-privacidade.html']").click();
  await check("privacy");
  const elsewhere = requestedUrls.filter(
    (url) => !url.startsWith(pathToFileURL(folder).href) && !url.startsWith("data:"),
  );
  expect(elsewhere).toEqual([]);
}

for (const language of languages) {
  test(`H-archive-copy: the static copy on the disk is complete, in ${repetition(language)}`, async ({
    page,
  }) => visit(page, language));

  test.describe("without scripts", () => {
    test.use({ javaScriptEnabled: false });
    test(`H-archive-copy: the static copy works without scripts, in ${repetition(language)}`, async ({
      page,
    }) => {
      const name = language === "pt" ? "site/pt/index.html" : "site/index.html";
      await page.goto(pathToFileURL(join(folder, name)).href);
      await expect(page.locator("h1")).toBeVisible();
      await expect(page.locator(`a[hreflang]`).first()).toBeVisible();
    });
  });
}
