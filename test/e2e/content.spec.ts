// Unusual content with real rows and files: none, one, very long, missing and very many.
import { brotliCompressSync, constants } from "node:zlib";

import type { Page } from "@playwright/test";

import { asService } from "../harness/clients.ts";
import { png, whitePng } from "../harness/png.ts";
import { type Server, startServer } from "../harness/server.ts";
import {
  renderInBrowser,
  expect,
  finishAnimations,
  expectAccessible,
  expectNoShift,
  expectNoSidewaysScroll,
  holdRequests,
  loadAllPictures,
  test,
  watchShifts,
} from "./fixtures.ts";

const widths = [320, 390, 768, 1440];

async function insert(server: Server, table: string, rows: object[]): Promise<void> {
  const { error } = await asService(server).from(table).insert(rows);
  if (error) throw error;
}

/** Stores a picture of that size and returns its public URL. */
async function picture(server: Server, width: number, height: number): Promise<string> {
  const bucket = asService(server).storage.from("product-images");
  const name = `${width}x${height}.png`;
  const file = png(width, height);
  const { error } = await bucket.upload(name, file, { contentType: "image/png", upsert: true });
  if (error) throw error;
  return bucket.getPublicUrl(name).data.publicUrl;
}

/** Waits until the open dialog has the focus. From then on it receives keys. */
async function waitForDialogFocus(page: Page): Promise<void> {
  await expect(page.getByRole("dialog").locator(":focus")).toHaveCount(1);
}

async function atEachWidth(page: Page, check: (width: number) => Promise<void>): Promise<void> {
  for (const width of widths)
    await test.step(`${width} px`, async () => {
      await page.setViewportSize({ width, height: 844 });
      await check(width);
    });
}

test.describe("no data at all", () => {
  let server: Server;
  test.beforeAll(async () => {
    server = await startServer("sqlite");
  });
  test.afterAll(() => server.stop());

  test(`home and gallery fit at ${widths.join(", ")} px`, async ({ page }) => {
    const shifts = await watchShifts(page);
    await atEachWidth(page, async () => {
      await page.goto(server.url);
      await expect(page.getByRole("heading", { name: "Get in Touch" })).toBeVisible();
      await expect(page.locator("[data-hero]")).toHaveCount(0);
      await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
      await expect(page.getByRole("heading", { level: 2 }).first()).toHaveText(
        "I paint for the places people live in",
      );
      await expect(page.locator("#testimonials")).toHaveCount(0);
      // The header never covers text.
      const bar = (await page.locator("header").first().boundingBox())!;
      const about = (await page.locator("#about").boundingBox())!;
      expect(about.y).toBeGreaterThanOrEqual(bar.y + bar.height);
      await expectNoSidewaysScroll(page);
      await expectAccessible(page);
      await expectNoShift(shifts);

      await page.goto(`${server.url}/gallery/mural`);
      await expect(page.getByText("Nothing hangs on this wall yet.")).toBeVisible();
      await page.getByRole("link", { name: "See all paintings" }).click();
      await expect(page.getByText("Nothing hangs on this wall yet.")).toBeVisible();
      await expect(page.getByRole("link", { name: "See all paintings" })).toHaveCount(0);
      await expectNoSidewaysScroll(page);
      await expectAccessible(page);
      await expectNoShift(shifts);
    });
  });
});

test.describe("only reviews", () => {
  let server: Server;
  test.use({ allowedConsole: [/status of 400 .*\/rest\/v1\/reviews/] });
  test.beforeAll(async () => {
    server = await startServer("sqlite");
    await insert(server, "reviews", [{ client_name: "Rui", message: "A wall.", is_active: true }]);
  });
  test.afterAll(() => server.stop());

  test(`S8-reviews-1: the layout does not shift at ${widths.join(", ")} px when reviews load late`, async ({
    page,
  }) => {
    const shifts = await watchShifts(page);
    await renderInBrowser(page);
    let onRequest = () => {};
    let response = () => {};
    await page.route(/\/rest\/v1\/reviews/, async (route) => {
      onRequest();
      await new Promise<void>((go) => (response = go));
      await route.continue();
    });
    await atEachWidth(page, async () => {
      const requested = new Promise<void>((done) => (onRequest = done));
      await page.goto(server.url);
      await requested;
      await expect(page.locator("[data-hero]")).toHaveCount(0);
      await expect(page.locator("[aria-busy=true]:not(#contact *)")).toHaveCount(0);
      await expect(page.locator("#about")).toBeHidden();
      response();
      await expect(page.getByRole("button", { name: /Rui/ })).toBeVisible();
      await expect(page.locator("#about")).toBeVisible();
      await expectNoShift(shifts);
    });
  });

  test("the other sections do not wait until failed reviews are requested again", async ({
    page,
  }) => {
    await renderInBrowser(page);
    await page.route(/\/rest\/v1\/reviews/, (route) => route.fulfill({ status: 400, json: {} }));
    await page.goto(server.url);
    await expect(page.locator("#about")).toBeVisible();
  });
});

test.describe("one of each", () => {
  let server: Server;
  test.beforeAll(async () => {
    server = await startServer("sqlite");
    const url = await picture(server, 800, 600);
    await insert(server, "cover_images", [
      {
        image_url: url,
        title: "Only cover",
        media_type: "image",
        is_active: true,
        display_order: 1,
      },
    ]);
    await insert(server, "products", [
      { title: "Only work", artwork_type: "digital", image_url: url, is_featured: true },
    ]);
    await insert(server, "reviews", [
      { client_name: "Luísa", message: "Short.", is_active: true, display_order: 1 },
    ]);
  });
  test.afterAll(() => server.stop());

  test("one cover, one work and one review have no arrows, dots or pause button", async ({
    page,
  }) => {
    await page.goto(server.url);
    await expect(page.getByText("Only cover")).toBeVisible();
    await page.getByRole("link", { name: /^Open Only work/ }).scrollIntoViewIfNeeded();
    await expect(page.getByRole("button", { name: /Luísa/ })).toBeVisible();
    for (const name of [/previous/i, /next/i, /pause/i, /play/i])
      await expect(page.getByRole("button", { name })).toHaveCount(0);
    await page.getByRole("link", { name: /^Open Only work/ }).click();
    const dialog = page.getByRole("dialog", { name: "Only work" });
    await expect(dialog.getByRole("heading", { name: "Only work" })).toBeVisible();
    await expect(dialog.getByRole("button", { name: "Next" })).toHaveCount(0);
    await expect(dialog.getByText("1 / 1")).toHaveCount(0);
  });

  test("the line under the only work continues to the edge of the gallery", async ({ page }) => {
    for (const width of [768, 1440]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(`${server.url}/gallery/all`);
      await expect(page.locator("[role=listitem]").getByRole("link")).toHaveCount(1);
      const { line, gallery } = await page.evaluate(() => ({
        line: document.querySelector("[role=listitem] .bg-divider")!.getBoundingClientRect().right,
        gallery: document.querySelector("[role=list]")!.getBoundingClientRect().right,
      }));
      expect(Math.abs(line - gallery)).toBeLessThan(1.5);
    }
  });
});

test.describe("a white cover, and one wide work", () => {
  let server: Server;
  test.beforeAll(async () => {
    server = await startServer("sqlite");
    const bucket = asService(server).storage.from("cover-images");
    const stored = await bucket.upload("white.png", whitePng(1600, 900), {
      contentType: "image/png",
    });
    if (stored.error) throw stored.error;
    await insert(server, "cover_images", [
      {
        image_url: bucket.getPublicUrl("white.png").data.publicUrl,
        title: "Only cover",
        media_type: "image",
        is_active: true,
        display_order: 1,
      },
    ]);
    await insert(server, "products", [
      {
        title: "Horizon",
        artwork_type: "mural",
        image_url: await picture(server, 1200, 200),
        is_featured: true,
      },
    ]);
  });
  test.afterAll(() => server.stop());

  test("S2-home-10: the header's white text has a contrast of 4.5:1 over a white cover", async ({
    page,
  }) => {
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(server.url);
      await expect(page.getByText("Only cover")).toBeVisible();
      await loadAllPictures(page);
      await finishAnimations(page);
      const bar = page.getByRole("banner");
      const texts = width < 1024 ? ["Menu"] : ["About", "Contact"];
      for (const name of texts) {
        const item = bar.getByRole("button", { name, exact: true });
        await expect(item).toHaveCSS("color", "rgb(255, 255, 255)");
        const box = (await item.boundingBox())!;
        await item.evaluate((one) => (one.style.opacity = "0"));
        const shot = await page.screenshot({ clip: box });
        await item.evaluate((one) => (one.style.opacity = ""));
        const lightest = await page.evaluate(async (base64) => {
          const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
          const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
          const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
          const pen = canvas.getContext("2d")!;
          pen.drawImage(bitmap, 0, 0);
          const { data } = pen.getImageData(0, 0, bitmap.width, bitmap.height);
          const linear = (byte: number) =>
            byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4;
          let most = 0;
          for (let at = 0; at < data.length; at += 4)
            most = Math.max(
              most,
              0.2126 * linear(data[at]!) +
                0.7152 * linear(data[at + 1]!) +
                0.0722 * linear(data[at + 2]!),
            );
          return most;
        }, shot.toString("base64"));
        expect(1.05 / (lightest + 0.05), `${name} at ${width} px`).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  test("S2-home-11: a single wide work has no empty space above it", async ({ page }) => {
    for (const width of widths) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(server.url);
      const card = page.getByRole("link", { name: /^Open Horizon/ });
      await card.scrollIntoViewIfNeeded();
      await loadAllPictures(page);
      const shown = (await card.locator("img").boundingBox())!;
      const heading = (await page.getByRole("heading", { name: /^Trusted by/ }).boundingBox())!;
      // 120 px allow for the margin of the heading, which is also above a work that fills its box.
      expect(shown.y - heading.y - heading.height, `${width} px`).toBeLessThan(120);
    }
  });
});

test.describe("long, unusual and missing content", () => {
  const long =
    "The long afternoon light upon the whitewashed wall of the fishermen’s chapel ".repeat(3);
  const words = `${long.slice(0, 199)}.`;
  const unbroken = "Ultramarinho".repeat(17).slice(0, 200);
  const review = `${"A sentence of praise, then another. ".repeat(150).slice(0, 4990)} The end.`;
  let server: Server;

  // The browser's console messages for missing files.
  test.use({ allowedConsole: [/Failed to load resource: .* 40[04] .*\/storage\/v1\//] });
  test.beforeAll(async () => {
    server = await startServer("sqlite");
    const tall = await picture(server, 200, 1200);
    const wide = await picture(server, 1200, 200);
    const plain = await picture(server, 900, 700);
    const gone = `${server.url}/storage/v1/object/public/product-images/gone.png`;
    expect([words.length, unbroken.length, review.length]).toEqual([200, 200, 4999]);
    const work = (title: string, image_url: string | null, artwork_type = "digital") => ({
      title,
      image_url,
      artwork_type,
      is_featured: true,
    });
    await insert(server, "products", [
      work(words, plain),
      work(unbroken, plain, "mural"),
      work("Tower", tall, "mural"),
      work("Horizon", wide, "watercolour"),
      work("Gone", gone, "mural"),
      work("Nothing", null),
    ]);
    await insert(server, "products", [{ ...work("Both", tall), image_gallery: [wide, gone] }]);
    await insert(server, "cover_images", [
      { image_url: plain, title: words, media_type: "image", is_active: true, display_order: 1 },
      { image_url: gone, title: unbroken, media_type: "image", is_active: true, display_order: 2 },
    ]);
    await insert(server, "reviews", [
      { client_name: "Rui", message: review, is_active: true, display_order: 1, image_url: gone },
      { client_name: unbroken.slice(0, 100), message: unbroken, is_active: true, display_order: 2 },
    ]);
  });
  test.afterAll(() => server.stop());

  test(`the gallery at ${widths.join(", ")} px shows whole works and titles, and the layout does not shift`, async ({
    page,
  }) => {
    const shifts = await watchShifts(page);
    await atEachWidth(page, async () => {
      await page.goto(`${server.url}/gallery/all`);
      await expect(page.locator("[role=listitem]").getByRole("link")).toHaveCount(7);
      await loadAllPictures(page);
      await expectNoSidewaysScroll(page);
      await expectAccessible(page);
      await expect(page.getByRole("img", { name: "No image available" })).toHaveCount(2);

      const works = await page.locator("[role=listitem]").evaluateAll((items) =>
        items.map((item) => {
          const link = item.querySelector("a")!;
          const img = item.querySelector("img");
          const title = item.querySelector<HTMLElement>(".text-work")!;
          const shown = img?.getBoundingClientRect();
          return {
            natural: img && img.naturalWidth / img.naturalHeight,
            shown: shown && shown.width / shown.height,
            height: shown?.height ?? 0,
            inside: !shown || shown.right <= link.getBoundingClientRect().right + 1,
            title: title.textContent,
            cut: title.scrollWidth > title.clientWidth + 4,
          };
        }),
      );
      for (const one of works) {
        expect(one.inside).toBe(true);
        expect(one.cut).toBe(false);
        if (one.natural) expect(one.shown! / one.natural).toBeCloseTo(1, 1);
        expect(one.height).toBeLessThanOrEqual(0.74 * 844 + 1);
      }
      expect(works.map((one) => one.title)).toEqual(expect.arrayContaining([words, unbroken]));
      await expectNoShift(shifts);
    });
  });

  test(`at ${widths.join(", ")} px the titles of covers and the reviews fit into their frames`, async ({
    page,
  }) => {
    await atEachWidth(page, async (width) => {
      if (width === 320) await page.setViewportSize({ width, height: 568 });
      await page.goto(server.url);
      const hero = page.locator("[data-hero]:not([aria-busy])");
      await expect(hero.getByText(words)).toBeVisible();
      await expectNoSidewaysScroll(page);
      const parts = await hero.evaluate((section) => {
        const [media, band] = [...section.children].map((one) => one.getBoundingClientRect());
        const text = [...section.querySelectorAll(".band p")].map((p) => p.getBoundingClientRect());
        return {
          section: section.getBoundingClientRect().bottom,
          media: media!.height,
          top: band!.top,
          bottom: band!.bottom,
          texts: text.filter((one) => one.height > 0).map(({ top, bottom }) => ({ top, bottom })),
        };
      });
      expect(parts.bottom).toBeLessThanOrEqual(parts.section + 1);
      expect(parts.media).toBeGreaterThan(100);
      for (const text of parts.texts) {
        expect(text.top).toBeGreaterThanOrEqual(parts.top);
        expect(text.bottom).toBeLessThanOrEqual(parts.bottom);
      }
      await loadAllPictures(page);
      await expectNoSidewaysScroll(page);

      const card = page.getByRole("button", { name: /Rui/ });
      await card.scrollIntoViewIfNeeded();
      const clamp = await card.locator(".line-clamp-4").evaluate((text) => ({
        lines: Math.round(text.clientHeight / parseFloat(getComputedStyle(text).lineHeight)),
        more: text.scrollHeight > text.clientHeight,
      }));
      expect(clamp).toEqual({ lines: 4, more: true });
    });
  });

  for (const width of [390, 1440]) {
    test(`dialogs at ${width} px show a long title, unusual and missing pictures`, async ({
      page,
    }) => {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(`${server.url}/gallery/all`);
      const dialog = page.getByRole("dialog");
      for (const title of [words, unbroken]) {
        await page.getByRole("link", { name: `Open ${title}` }).click();
        const heading = dialog.getByRole("heading", { name: title });
        await expect(heading).toBeVisible();
        expect(await heading.evaluate((h) => h.scrollWidth <= h.clientWidth)).toBe(true);
        await dialog.getByRole("button", { name: "Ask about this work" }).scrollIntoViewIfNeeded();
        await expect(dialog.getByRole("button", { name: "Ask about this work" })).toBeInViewport();
        await expect(dialog.getByRole("button", { name: "Close", exact: true })).toBeInViewport();
        await expectAccessible(page);
        await page.keyboard.press("Escape");
        await expect(dialog).toBeHidden();
      }
      for (const title of ["Gone", "Nothing"]) {
        await page.getByRole("link", { name: `Open ${title}` }).click();
        const empty = dialog.getByRole("img", { name: "No image available" });
        await expect(empty).toBeVisible();
        expect((await empty.boundingBox())!.height).toBeGreaterThan(100);
        await waitForDialogFocus(page);
        await page.keyboard.press("Escape");
        await expect(dialog).toBeHidden();
      }
      await page.getByRole("link", { name: /^Open Both/ }).click();
      for (const [n, ratio] of [1 / 6, 6].entries()) {
        // A press takes effect when the carousel's code has loaded.
        await expect(dialog.getByText(`${n + 1} / 3`, { exact: true })).toBeVisible();
        const shown = dialog.locator("[role=group]:not([inert]) img");
        await expect(shown).toBeVisible();
        await expect
          .poll(() => shown.evaluate((img: HTMLImageElement) => img.naturalWidth))
          .toBeGreaterThan(0);
        const box = (await shown.boundingBox())!;
        expect(box.width / box.height / ratio).toBeCloseTo(1, 1);
        await dialog.getByRole("button", { name: "Next" }).click();
      }
      await expect(
        dialog
          .locator("[role=group]:not([inert])")
          .getByRole("img", { name: "No image available" }),
      ).toBeVisible();
    });

    test(`a review of 5,000 characters at ${width} px can be read to its end and closed`, async ({
      page,
    }) => {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(server.url);
      await page.getByRole("button", { name: /Rui/ }).click();
      const dialog = page.getByRole("dialog", { name: "Review by Rui" });
      await expect(dialog.getByText("The end.”")).toBeAttached();
      await expectNoSidewaysScroll(page);
      await expectAccessible(page);
      await waitForDialogFocus(page);
      // The file of the picture is missing, so its initial is shown instead. The button is pressed until it is visible,
      // because Chromium can drop a smooth scroll if the layout changes meanwhile.
      await expect(async () => {
        await page.keyboard.press("End");
        await expect(dialog.getByText("R", { exact: true })).toBeInViewport({ timeout: 5_000 });
      }).toPass();
      await dialog.getByRole("button", { name: "Close", exact: true }).click();
      await expect(dialog).toBeHidden();
    });
  }
});

test.describe("5,000 works", () => {
  let server: Server;
  let farthest = "";
  let lastFeatured = "";
  test.beforeAll(async () => {
    server = await startServer("sqlite");
    const url = await picture(server, 300, 240);
    const types = ["digital", "mural", "watercolour"];
    for (let part = 0; part < 5; part++) {
      const works = Array.from({ length: 1000 }, (_, i) => {
        const n = part * 1000 + i + 1;
        return {
          title: `Work ${n}`,
          artwork_type: types[n % 3],
          image_url: `${url}?work=${n}`,
          is_featured: n > 4000,
          created_at: new Date(Date.UTC(2020, 0, 1, 0, n)).toISOString(),
        };
      });
      await insert(server, "products", works);
    }
    await insert(server, "products", [
      { title: "Hidden oil", artwork_type: "oil", is_featured: false, created_at: "2019-01-01" },
      { title: "Last oil", artwork_type: "oil", is_featured: true, created_at: "2019-01-01" },
    ]);
    const idOf = async (title: string) => {
      const { data, error } = await asService(server)
        .from("products")
        .select("id")
        .eq("title", title)
        .single<{ id: string }>();
      if (error) throw error;
      return data.id;
    };
    farthest = await idOf("Work 7");
    lastFeatured = await idOf("Last oil");
    await insert(
      server,
      "reviews",
      Array.from({ length: 300 }, (_, n) => ({
        client_name: `Client ${n + 1}`,
        message: `${n + 1}. ${"She listened, then drew what we meant. ".repeat(12)}`,
        is_active: true,
        display_order: n + 1,
      })),
    );
  });
  test.afterAll(() => server.stop());

  const items = (page: Page) => page.locator("[role=listitem]");
  const card = (page: Page, n: number) =>
    page.getByRole("link", { name: new RegExp(`^Open Work ${n}(?!\\d)`) });

  test("all can be reached, newest first, while only few are rendered and requested", async ({
    page,
  }) => {
    const ranges: string[] = [];
    page.on("request", (request) => {
      const range = request.headers()["range"];
      if (range && request.url().includes("/rest/v1/products")) ranges.push(range);
    });
    const shifts = await watchShifts(page);
    await page.goto(`${server.url}/gallery/all`);
    await expect(card(page, 5000)).toBeVisible();
    await expect(items(page).first()).toHaveAttribute("aria-setsize", "5000");
    await expect(page.getByRole("status").first()).toHaveText("Works on this wall: 5000");
    expect(ranges).toEqual([]); // the first works are in the HTML
    expect(await items(page).count()).toBeLessThanOrEqual(48);

    await page.keyboard.press("End");
    await expect(page.locator("footer")).toBeInViewport();
    await card(page, 1).scrollIntoViewIfNeeded();
    await expect(card(page, 1)).toBeInViewport();
    await expect(items(page).last()).toHaveAttribute("aria-posinset", "5000");
    // Works above the screen are removed some frames later.
    await expect.poll(() => items(page).count()).toBeLessThanOrEqual(72);
    // Smooth scrolling passes many works, but each page of works is requested only once.
    expect(ranges.length).toBeLessThan(105);
    await expectAccessible(page);
    await expect(page.getByText("Hidden oil")).toHaveCount(0);
    await expectNoShift(shifts);
  });

  test("Tab moves from card to card across blocks and pages, and the skip link skips them all", async ({
    page,
  }) => {
    await page.goto(`${server.url}/gallery/all`);
    await card(page, 5000).focus();
    for (let n = 4999; n >= 4940; n--) {
      await page.keyboard.press("Tab");
      await expect(card(page, n)).toBeFocused();
    }
    await page.getByRole("link", { name: "Skip the works" }).focus();
    await expect(page.getByRole("link", { name: "Skip the works" })).toBeInViewport();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await expect(page.locator("footer a").first()).toBeFocused();
  });

  for (const width of [390, 1440]) {
    test(`Back and reload return to the same work, at ${width} px`, async ({ page }) => {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(`${server.url}/gallery/mural`);
      await expect(items(page).first()).toBeVisible();
      await page.evaluate(() => scrollTo({ top: 20_000, behavior: "instant" }));
      const seen = page.locator("[role=listitem] a");
      const onScreen = () =>
        seen.evaluateAll(
          (cards) =>
            cards.find((one) => one.getBoundingClientRect().top >= 0)?.textContent?.slice(0, 14) ??
            "",
        );
      await expect.poll(onScreen).toMatch(/^Open Work/);
      await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
      const before = await onScreen();
      await page.evaluate(() =>
        document.querySelector<HTMLElement>("footer a[href='/politica-privacidade']")!.click(),
      );
      // The URL changes before the page does.
      await expect(
        page.getByRole("heading", { level: 1, name: "Política de Privacidade" }),
      ).toBeVisible();
      await expect(page).toHaveURL(/politica-privacidade/);
      await page.goBack();
      await expect.poll(onScreen).toBe(before);
      await page.reload();
      await expect.poll(onScreen).toBe(before);
    });
  }

  test("the URL of a work far down opens its dialog, and leads to the gallery of its own type", async ({
    page,
  }) => {
    await page.goto(`${server.url}/gallery/all?art=${farthest}`);
    await expect(page.getByRole("dialog").getByRole("heading", { name: "Work 7" })).toBeVisible();
    await waitForDialogFocus(page);
    await page.keyboard.press("Escape");
    await expect(page).toHaveURL(/\/gallery\/all$/);
    // Work 7 is a mural.
    await page.goto(`${server.url}/gallery/mural?art=${farthest}`);
    await expect(page.getByRole("dialog").getByRole("heading", { name: "Work 7" })).toBeVisible();
    await page.goto(`${server.url}/gallery/digital?art=${farthest}`);
    await expect(page).toHaveURL(`${server.url}/gallery/mural?art=${farthest}`);
    await expect(page.getByRole("dialog").getByRole("heading", { name: "Work 7" })).toBeVisible();
  });

  test("a click opens a work far down, and Back closes it at the same scroll position", async ({
    page,
  }) => {
    await page.goto(`${server.url}/gallery/watercolour`);
    await expect(items(page).first()).toBeVisible();
    await page.evaluate(() => scrollTo({ top: 30_000, behavior: "instant" }));
    const some = items(page).nth(14).getByRole("link");
    // Distant works are rendered again while the page is still scrolling.
    await expect(() => some.scrollIntoViewIfNeeded({ timeout: 1_000 })).toPass();
    await some.click();
    await expect(page.getByRole("dialog")).toBeVisible();
    const y = await page.evaluate(() => scrollY);
    await page.goBack();
    await expect(page.getByRole("dialog")).toBeHidden();
    expect(Math.abs((await page.evaluate(() => scrollY)) - y)).toBeLessThan(2);
  });

  const reviews = (page: Page) => page.locator("#testimonials");
  const review = (page: Page, n: number) =>
    reviews(page).getByRole("button", { name: new RegExp(`Client ${n}$`) });
  /** Records the ranges of rows that the page requests from now on, by table. */
  const watchRanges = (page: Page) => {
    const ranges: Record<string, string[]> = { products: [], reviews: [] };
    page.on("request", (request) => {
      const table = /\/rest\/v1\/(\w+)/.exec(request.url())?.[1];
      if (table) ranges[table]!.push(request.headers()["range"] ?? "all");
    });
    return ranges;
  };
  /** Returns the first `count` ranges after that of the first page. */
  const laterRanges = (count: number) =>
    Array.from({ length: count }, (_, n) => `${12 * (n + 1)}-${12 * (n + 2) - 1}`);

  for (const path of ["/", "/?lang=pt"])
    test(`P-drawn-bounded: with 1,001 featured works and 300 reviews, ${path} contains twelve of each in less than 60 kB`, async () => {
      const html = await (await fetch(server.url + path)).text();
      const quality = { [constants.BROTLI_PARAM_QUALITY]: 5 }; // that of a page for which a visitor waits
      expect(brotliCompressSync(html, { params: quality }).length).toBeLessThan(60_000);
      const mainHtml = html.slice(html.indexOf("<main"), html.indexOf("</main>"));
      expect(mainHtml.match(/[?&]art=/g)).toHaveLength(12);
      expect(mainHtml.match(/Client \d+/g)).toHaveLength(12);
      const block = /id="boot">(.*?)<\/script>/.exec(html)![1]!;
      const { queries } = JSON.parse(block) as { queries: [string[], { rows?: unknown[] }][] };
      expect(queries.map(([, { rows }]) => rows?.length)).toEqual([undefined, 12, 12]);
    });

  test("P-drawn-bounded: the strip renders and loads only the first works, and its arrows reach the last of 1,001", async ({
    page,
  }) => {
    const pictures = new Set<string>();
    page.on("request", (request) => {
      if (request.url().includes("?work=")) pictures.add(request.url());
    });
    const ranges = watchRanges(page);
    const shifts = await watchShifts(page);
    await page.goto(server.url);
    await card(page, 5000).scrollIntoViewIfNeeded();
    await loadAllPictures(page);
    const cards = page.getByRole("link", { name: /^Open Work/ });
    await expect(cards).toHaveCount(12);
    expect(pictures.size).toBeLessThanOrEqual(12);
    expect(ranges).toEqual({ products: [], reviews: [] });
    await card(page, 5000).focus();
    for (let n = 0; n < 20; n++) await page.keyboard.press("ArrowRight");
    await expect(card(page, 4980)).toBeInViewport();
    await expect(card(page, 5000)).toBeFocused();
    await expect(cards).toHaveCount(36);
    expect(ranges.products).toEqual(laterRanges(2));
    await expectAccessible(page);
    await expectNoShift(shifts);

    // Pressed by code in the page, because Playwright waits after each press for everything that it renders.
    await card(page, 5000).evaluate((focused) => {
      for (let n = 20; n < 1001; n++)
        focused.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    });
    const last = page.getByRole("link", { name: "Open Last oil" });
    // The strip makes 83 requests, one after the other, and measures itself after each. The limit only ends a hang.
    await expect(last).toBeInViewport({ timeout: 240_000 });
    expect(ranges.products).toEqual(laterRanges(83));
    await last.click();
    await expect(page).toHaveURL(`${server.url}/?art=${lastFeatured}`);
    await expect(page.getByRole("dialog").getByRole("heading", { name: "Last oil" })).toBeVisible();
    await page.goBack();
    await expect(page.getByRole("dialog")).toBeHidden();
    expect(ranges.reviews).toEqual([]);
  });

  test("P-drawn-bounded: Tab moves from work to work across pages of the strip, also while they load", async ({
    page,
  }) => {
    await page.goto(server.url);
    const arrive = await holdRequests(page, /\/rest\/v1\/products/);
    await card(page, 5000).focus();
    for (let n = 4999; n > 4988; n--) {
      await page.keyboard.press("Tab");
      await expect(card(page, n)).toBeFocused();
      await expect(card(page, n)).toBeInViewport();
    }
    const loading = page.getByRole("group", { name: "Loading more…" });
    await expect(loading).toHaveCount(1);
    await page.keyboard.press("Tab");
    await expect(loading).toBeFocused();
    await expectAccessible(page);
    arrive();
    for (let n = 4988; n > 4970; n--) {
      await expect(card(page, n)).toBeFocused();
      await expect(card(page, n)).toBeInViewport();
      await page.keyboard.press("Tab");
    }
  });

  test("P-drawn-bounded: later pages of reviews load when the carousel comes near them by arrow, key or drag", async ({
    page,
  }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    const ranges = watchRanges(page);
    await page.goto(server.url);
    await review(page, 1).scrollIntoViewIfNeeded();
    const next = reviews(page).getByRole("button", { name: "Next", exact: true });
    for (let n = 0; n < 3; n++) await next.click();
    await expect(review(page, 4)).toBeInViewport();
    expect(ranges.reviews).toEqual([]);
    await expect(reviews(page).getByRole("button", { name: /Client/ })).toHaveCount(12);
    await next.click();
    await expect.poll(() => ranges.reviews).toEqual(laterRanges(1));
    for (let n = 5; n < 20; n++) await page.keyboard.press("ArrowRight");
    await expect(review(page, 20)).toBeInViewport();
    // Wait until the carousel rests, because a drag during its movement would start elsewhere.
    const left = () =>
      review(page, 20).evaluate((one) => Math.round(one.getBoundingClientRect().left));
    let before = NaN;
    await expect
      .poll(async () => {
        const same = before === (before = await left());
        return same;
      })
      .toBe(true);
    const box = (await review(page, 20).boundingBox())!;
    await page.mouse.move(box.x + box.width - 20, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + 20, box.y + 30, { steps: 8 });
    await page.mouse.up();
    await expect(review(page, 21)).toBeInViewport();
    await review(page, 21).click();
    await expect(page.getByRole("dialog", { name: "Review by Client 21" })).toBeVisible();
    expect(ranges.reviews).toEqual(laterRanges(2));
    expect(ranges.products).toEqual([]);
  });

  test("P-plain-reviews: without scripts, links lead through all reviews and back", async ({
    browser,
  }) => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${server.url}/?lang=pt`);
    const links = reviews(page).getByRole("navigation");
    const link = (name: string) => links.getByRole("link", { name, exact: true });
    for (let n = 13; n <= 300; n += 12) {
      await link("Seguinte").click();
      await expect(reviews(page).getByText(`Client ${n}`, { exact: true })).toBeVisible();
      await expect(reviews(page).getByText(`Client ${n + 11}`, { exact: true })).toBeVisible();
    }
    await expect(link("Seguinte")).toHaveCount(0);
    await expect(page.locator("html")).toHaveAttribute("lang", "pt");
    await link("Anterior").click();
    await expect(reviews(page).getByText("Client 277", { exact: true })).toBeVisible();
    await expectNoSidewaysScroll(page);
    await context.close();
  });

  test("S2-route-home: the URL of a distant featured work opens it, with and without scripts", async ({
    page,
    browser,
  }) => {
    const ranges = watchRanges(page);
    await page.goto(`${server.url}/?art=${lastFeatured}`);
    await expect(page.getByRole("dialog").getByRole("heading", { name: "Last oil" })).toBeVisible();
    await expect(page).toHaveTitle(/^Last oil · /);
    expect(ranges).toEqual({ products: [], reviews: [] }); // the work is in the HTML
    await waitForDialogFocus(page);
    await page.keyboard.press("Escape");
    await expect(page).toHaveURL(`${server.url}/`);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(`${server.url}/?art=${lastFeatured}`);
    await expect(plain.getByRole("article", { name: "Last oil" })).toBeVisible();
    await context.close();
  });
});
