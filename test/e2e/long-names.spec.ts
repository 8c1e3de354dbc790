// The header stays usable at each width in `widths`, even with the longest name, which has 60 characters.
import type { Page } from "@playwright/test";

import { asOwner } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { expect, expectNoSidewaysScroll, test } from "./fixtures.ts";

const names = [
  "Maria Antónia de Vasconcelos e Sousa Pinto Ribeiro da Silva",
  "Wolkenkuckucksheimgemäldewerkstättenverzeichnisverwaltungen",
];
const widths = [320, 390, 768, 1024, 1280, 2560];

async function saveName(server: Server, name: string): Promise<void> {
  const owner = await asOwner(server);
  const { data: known } = await owner.rpc("get_site_settings");
  const { version, settings } = known as { version: string; settings: { site: object } };
  const saved = await owner.rpc("save_site_settings", {
    version,
    settings: { ...settings, site: { ...settings.site, name } },
  });
  expect(saved.error).toBeNull();
}

/** Expects, at each width, a complete header and, if `name` is given, a complete footer that shows it. */
async function expectComplete(page: Page, name?: string): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 700 });
    await expectNoSidewaysScroll(page);
    await expectHeaderComplete(page, width);
    if (name) await expectFooterComplete(page, width, name);
  }
}

/**
 * Expects that the site's name and the menu button (on wide screens the contact button) are completely visible, and that
 * nothing in the header overlaps.
 */
async function expectHeaderComplete(page: Page, width: number): Promise<void> {
  const bar = page.getByRole("banner");
  const way = bar.getByRole("button", {
    name: width < 1024 ? "Menu" : /^(Let's Talk|Vamos conversar)$/,
  });
  await expect(way).toBeInViewport({ ratio: 1 });
  const mark = bar.getByRole("link").first();
  await expect(mark).toBeInViewport({ ratio: 1 });
  const [markBox, wayBox] = await Promise.all([mark.boundingBox(), way.boundingBox()]);
  expect(markBox!.x + markBox!.width, `${width}`).toBeLessThanOrEqual(wayBox!.x);
  // Nothing in the header extends beyond its right edge or is covered by an element beside it.
  const boxes = await bar.locator("a, button").evaluateAll((all) =>
    all
      .map((element) => element.getBoundingClientRect())
      .filter((box) => box.width > 0)
      .map(({ left, right, top, bottom }) => ({ left, right, top, bottom })),
  );
  for (const [n, box] of boxes.entries()) {
    expect(box.right, `${width}`).toBeLessThanOrEqual(width);
    for (const other of boxes.slice(n + 1)) {
      const apart =
        other.left >= box.right - 1 ||
        other.right <= box.left + 1 ||
        other.top >= box.bottom - 1 ||
        other.bottom <= box.top + 1;
      expect(apart, `at ${width} px ${JSON.stringify([box, other])}`).toBe(true);
    }
  }
}

/** Expects that the name in the footer and its links are inside the window. */
async function expectFooterComplete(page: Page, width: number, name: string): Promise<void> {
  const footer = page.getByRole("contentinfo");
  const parts = footer.getByText(name, { exact: true }).or(footer.getByRole("link"));
  const found = await parts.evaluateAll((all) =>
    all.map((element) => {
      const { left, right } = element.getBoundingClientRect();
      // The text of a line that is too long extends beyond its box.
      return {
        text: element.textContent,
        left,
        right,
        over: element.scrollWidth - element.clientWidth,
      };
    }),
  );
  expect(found.map(({ text }) => text)).toContain(name);
  expect(found.length).toBeGreaterThan(1);
  for (const part of found) {
    expect(part.left, `${part.text} at ${width} px`).toBeGreaterThanOrEqual(-1);
    expect(part.right, `${part.text} at ${width} px`).toBeLessThanOrEqual(width);
    expect(part.over, `${part.text} at ${width} px`).toBeLessThanOrEqual(1);
  }
}

/**
 * Waits for the pictures that are not lazy. At another width the page would otherwise use other sizes than it has
 * preloaded.
 */
async function waitForFirstPictures(page: Page) {
  await page.waitForFunction(() =>
    [...document.images].every((image) => image.loading === "lazy" || image.complete),
  );
}

const onePixel = Buffer.from("R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==", "base64");

/**
 * Answers requests for pictures with one pixel. Decoding other sizes at each width would take most of the time, and the
 * layout does not depend on them.
 */
async function withoutPictures(page: Page): Promise<void> {
  await page.route("**/storage/v1/render/**", (route) =>
    route.fulfill({ contentType: "image/gif", body: onePixel }),
  );
}

test("S2-nav-12: header and footer have room for the longest names, for visitors and owners", async ({
  page,
  demoFolder,
}) => {
  const server = await startServer("sqlite", { demo: demoFolder });
  await withoutPictures(page);
  try {
    for (const name of names) {
      await saveName(server, name);
      for (const language of ["en", "pt"] as const)
        for (const path of ["/gallery/all", "/"]) {
          await page.setViewportSize({ width: widths[0]!, height: 700 });
          await page.goto(`${server.url}${path}?lang=${language}`);
          await waitForFirstPictures(page);
          await expectComplete(page, name);
          await page.setViewportSize({ width: 390, height: 700 });
          await page.getByRole("button", { name: "Menu" }).click();
          await expect(page.getByRole("navigation").first()).toBeVisible();
        }
    }
    for (const language of ["en", "pt"] as const) {
      await page.setViewportSize({ width: 1280, height: 700 });
      await signInAt(page, server, "/admin", language);
      await expectComplete(page);
      await page.setViewportSize({ width: 1280, height: 700 });
      await page.goto(`${server.url}/?lang=${language}`);
      await waitForFirstPictures(page);
      await expect(
        page.getByRole("banner").getByRole("button", { name: /^(Sign Out|Sair)$/ }),
      ).toBeVisible();
      await expectComplete(page, names.at(-1));
    }
  } finally {
    await page.close(); // an open page would send requests to the stopped server
    await server.stop();
  }
});
