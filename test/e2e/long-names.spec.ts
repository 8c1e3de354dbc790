// A site's name may have 60 characters: the navigation stays usable at every width.
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

/** Expects at every width that name and navigation are whole, and do not overlap. */
async function expectBarWhole(page: Page): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 700 });
    await expectNoSidewaysScroll(page);
    const bar = page.getByRole("banner");
    const way = bar.getByRole("button", {
      name: width < 1024 ? "Menu" : /^(Let's Talk|Vamos conversar)$/,
    });
    await expect(way).toBeInViewport({ ratio: 1 });
    const mark = bar.getByRole("link").first();
    await expect(mark).toBeInViewport({ ratio: 1 });
    const [markBox, wayBox] = await Promise.all([mark.boundingBox(), way.boundingBox()]);
    expect(markBox!.x + markBox!.width, `${width}`).toBeLessThanOrEqual(wayBox!.x);
    // Nothing in the bar is cut off at its right edge, or covered by what stands beside it.
    const boxes = await bar.locator("a, button").evaluateAll((all) =>
      all
        .map((one) => one.getBoundingClientRect())
        .filter((box) => box.width > 0)
        .map(({ left, right, top, bottom }) => ({ left, right, top, bottom })),
    );
    for (const [n, one] of boxes.entries()) {
      expect(one.right, `${width}`).toBeLessThanOrEqual(width);
      for (const other of boxes.slice(n + 1)) {
        const apart =
          other.left >= one.right - 1 ||
          other.right <= one.left + 1 ||
          other.top >= one.bottom - 1 ||
          other.bottom <= one.top + 1;
        expect(apart, `at ${width} px ${JSON.stringify([one, other])}`).toBe(true);
      }
    }
  }
}

/** Expects at every width that the name in the footer, and its links, are within the window. */
async function expectFooterWhole(page: Page, name: string): Promise<void> {
  const footer = page.getByRole("contentinfo");
  for (const width of widths) {
    await page.setViewportSize({ width, height: 700 });
    for (const part of [
      footer.getByText(name, { exact: true }),
      ...(await footer.getByRole("link").all()),
    ]) {
      const box = (await part.boundingBox())!;
      expect(box.x, `${width}`).toBeGreaterThanOrEqual(-1);
      expect(box.x + box.width, `${width}`).toBeLessThanOrEqual(width);
      // The text of a line that is too long sticks out of its box.
      expect(await part.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(
        1,
      );
    }
  }
}

/** Waits for the pictures that are not lazy: at another width the page would use other sizes than it has preloaded. */
async function firstPicturesDrawn(page: Page) {
  await page.waitForFunction(() =>
    [...document.images].every((image) => image.loading === "lazy" || image.complete),
  );
}

test("S2-nav-12: the bar and the footer hold the longest names, signed in or not", async ({
  page,
  demoFolder,
}) => {
  const server = await startServer("sqlite", { demo: demoFolder });
  try {
    for (const name of names) {
      await saveName(server, name);
      for (const language of ["en", "pt"] as const)
        for (const path of ["/gallery/all", "/"]) {
          await page.setViewportSize({ width: widths[0]!, height: 700 });
          await page.goto(`${server.url}${path}?lang=${language}`);
          await firstPicturesDrawn(page);
          await expectBarWhole(page);
          await expectFooterWhole(page, name);
          await page.setViewportSize({ width: 390, height: 700 });
          await page.getByRole("button", { name: "Menu" }).click();
          await expect(page.getByRole("navigation").first()).toBeVisible();
        }
    }
    for (const language of ["en", "pt"] as const) {
      await page.setViewportSize({ width: 1280, height: 700 });
      await signInAt(page, server, "/admin", language);
      await expectBarWhole(page);
      await page.setViewportSize({ width: 1280, height: 700 });
      await page.goto(`${server.url}/?lang=${language}`);
      await firstPicturesDrawn(page);
      await expect(
        page.getByRole("banner").getByRole("button", { name: /^(Sign Out|Sair)$/ }),
      ).toBeVisible();
      await expectBarWhole(page);
      await expectFooterWhole(page, names.at(-1)!);
    }
  } finally {
    await page.close(); // an open page would send requests to the stopped server
    await server.stop();
  }
});
