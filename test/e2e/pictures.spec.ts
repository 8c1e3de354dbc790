// The sizes and the loading of pictures, and the zoom, with the demo's renditions.
import type { Page } from "@playwright/test";

import { asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import {
  expect,
  expectAccessible,
  finishAnimations,
  holdRequests,
  makeJpeg,
  test,
} from "./fixtures.ts";

const screens = [
  { width: 390, height: 844, deviceScaleFactor: 3 },
  { width: 768, height: 1024, deviceScaleFactor: 2 },
  { width: 1440, height: 900, deviceScaleFactor: 1 },
];

/**
 * Returns, for each picture of the page that is a rendition, its requested width and the width at which the browser
 * paints it, in device pixels. A cropped picture (object-fit: cover) is painted wider than its box.
 */
function widthsOf(page: Page) {
  return page.evaluate(() =>
    [...document.images].flatMap((image) => {
      const requestedWidth = /[?&]width=(\d+)/.exec(image.currentSrc)?.[1];
      const box = image.getBoundingClientRect();
      if (!requestedWidth || box.width === 0 || !image.complete) return [];
      const ratio = image.width && image.naturalWidth / image.naturalHeight;
      const covers = getComputedStyle(image).objectFit === "cover";
      const painted = covers ? Math.max(box.width, box.height * ratio) : box.width;
      const croppedSource =
        image.parentElement?.querySelector<HTMLSourceElement>(":scope > source");
      const activeSource =
        croppedSource && matchMedia(croppedSource.media).matches ? croppedSource : image;
      const widths = [...activeSource.srcset.matchAll(/ (\d+)w/g)].map((found) => Number(found[1]));
      return [
        {
          file: image.currentSrc.replace(/^.*\//, ""),
          requestedWidth: Number(requestedWidth),
          painted: painted * devicePixelRatio,
          smallest: Math.min(...widths),
          largest: Math.max(...widths),
        },
      ];
    }),
  );
}

/**
 * Scrolls down the page. At each step it waits for the pictures near the viewport, lazy ones included, and then calls
 * `check`.
 */
async function scrollThrough(page: Page, check: () => Promise<void>) {
  for (let y = 0; y < (await page.evaluate(() => document.documentElement.scrollHeight));) {
    await page.evaluate((top) => scrollTo({ top, behavior: "instant" }), y);
    await waitForPictures(page);
    await check();
    y += page.viewportSize()!.height;
  }
}

async function waitForPictures(page: Page) {
  await page.waitForFunction(() => {
    const near = [...document.images].filter((image) => {
      const { top, bottom, left, right, width } = image.getBoundingClientRect();
      return width > 0 && bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
    });
    return near.every((image) => image.complete && !image.classList.contains("pending"));
  });
}

async function expectFittingWidths(page: Page) {
  const widths = await widthsOf(page);
  expect(
    widths.filter(
      ({ requestedWidth, painted, smallest }) =>
        requestedWidth > painted * 1.3 && requestedWidth > smallest,
    ),
    "larger than shown × device pixels × 1.3",
  ).toEqual([]);
  // The picture is sharp: its width is at most one standard width too small. Screens with more than two device pixels
  // per CSS pixel count as two.
  const least = (await page.evaluate(() => devicePixelRatio)) > 2.5 ? 0.6 : 0.85;
  expect(
    widths.filter(
      ({ requestedWidth, painted, largest }) =>
        requestedWidth < painted * least && requestedWidth < largest,
    ),
    "too small for where they are shown",
  ).toEqual([]);
  return widths.length;
}

/** The server makes the demo's renditions in the background after its start. */
test.beforeAll(async ({ demo }) => {
  await expect
    .poll(
      async () => {
        const rows = await Promise.all(
          ["products", "reviews", "cover_images"].map(async (table) => {
            const response = await fetch(`${demo.url}/rest/v1/${table}?select=media`, {
              headers: { apikey: demo.anonKey },
            });
            return (await response.json()) as {
              media: Record<string, { kind: string; color?: string }>;
            }[];
          }),
        );
        const all = rows.flat().flatMap(({ media }) => Object.entries(media));
        const waiting = all.filter(([, { kind, color }]) => kind !== "video" && !color);
        return all.length > 20 ? waiting.map(([address]) => address) : ["most of them"];
      },
      { message: "pictures that are not made yet", timeout: 120_000 },
    )
    .toEqual([]);
});

for (const { width, height, deviceScaleFactor } of screens) {
  test.describe(`on a screen of ${width} × ${deviceScaleFactor}`, () => {
    test.use({ viewport: { width, height }, deviceScaleFactor });

    test("P-1: no picture is requested larger than it is displayed", async ({ page, demo }) => {
      let seen = 0;
      const check = async () => void (seen += await expectFittingWidths(page));
      await page.goto(demo.url);
      await expect(page.getByRole("link", { name: /^Open / }).first()).toBeVisible();
      await scrollThrough(page, check);
      await page.goto(`${demo.url}/gallery/all`);
      await expect(page.getByRole("link", { name: /^Open / }).first()).toBeVisible();
      await scrollThrough(page, check);
      await page
        .getByRole("link", { name: /^Open / })
        .first()
        .click();
      await expect(page.getByRole("dialog").getByRole("img").first()).toBeVisible();
      await waitForPictures(page);
      await check();
      expect(seen).toBeGreaterThan(30);
    });
  });
}

const zoom = (page: Page) => page.getByRole("dialog", { name: /, up close$/ });
const times = (page: Page) => zoom(page).getByText(/^[\d.]+ ×$/);

async function openZoom(page: Page, url: string) {
  await page.goto(`${url}/gallery/all`);
  await page.getByRole("link", { name: "Open Telhados, manhã" }).click();
  await page.getByRole("button", { name: "Look closer at Telhados, manhã" }).click();
  await expect(times(page)).toHaveText("1 ×");
  await waitForZoomFocus(page);
  await finishAnimations(page);
}

/** Waits until the zoom has the focus. It gets the focus after it has rendered, and receives keys from then on. */
async function waitForZoomFocus(page: Page) {
  await expect(zoom(page).getByRole("group")).toBeFocused();
}

test.describe("the zoom", () => {
  test.use({ viewport: { width: 1024, height: 768 } });

  test("P-5: keys, buttons, wheel and double click magnify, and a larger rendition is requested", async ({
    page,
    demo,
  }) => {
    await openZoom(page, demo.url);
    await expectAccessible(page);
    const requestedWidth = () =>
      zoom(page)
        .locator("img")
        .evaluateAll((all) =>
          all.map((image) => Number(/width=(\d+)/.exec(image.getAttribute("src")!)![1])),
        );
    const first = Math.max(...(await requestedWidth()));
    await page.keyboard.press("+");
    await expect(times(page)).toHaveText("1.5 ×");
    await zoom(page).getByRole("button", { name: "Closer" }).click();
    await expect(times(page)).toHaveText("2.3 ×");
    await expect.poll(async () => Math.max(...(await requestedWidth()))).toBeGreaterThan(first);
    await page.keyboard.press("0");
    await expect(times(page)).toHaveText("1 ×");
    await page.mouse.move(300, 300);
    await page.mouse.wheel(0, -100);
    await expect(times(page)).toHaveText("1.3 ×");
    await page.keyboard.press("-");
    await expect(times(page)).toHaveText("1 ×");
    await page.mouse.dblclick(500, 300);
    await expect(times(page)).toHaveText("3 ×");
    // The dragged picture follows the mouse and stays inside its frame.
    const work = zoom(page).locator("img").last();
    await finishAnimations(page);
    const before = (await work.boundingBox())!;
    await page.mouse.move(500, 300);
    await page.mouse.down();
    await page.mouse.move(520, 340, { steps: 4 });
    await page.mouse.up();
    let after = before;
    await expect
      .poll(async () => {
        after = (await work.boundingBox())!;
        return [Math.round(after.x - before.x), Math.round(after.y - before.y)];
      }, "how far the picture has followed the mouse")
      .toEqual([20, 40]);
    await page.keyboard.press("ArrowDown");
    await finishAnimations(page);
    expect((await work.boundingBox())!.y).toBeCloseTo(after.y - 80, 0);
  });

  test("P-5: Escape and Back return to the dialog, and to the element that had the focus", async ({
    page,
    demo,
  }) => {
    await openZoom(page, demo.url);
    await page.keyboard.press("Escape");
    await expect(zoom(page)).toBeHidden();
    const dialog = page.getByRole("dialog", { name: "Telhados, manhã" });
    await expect(dialog).toBeVisible();
    await expect(
      page.getByRole("button", { name: "Look closer at Telhados, manhã" }),
    ).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(times(page)).toHaveText("1 ×");
    await page.goBack();
    await expect(zoom(page)).toBeHidden();
    await expect(dialog).toBeVisible();
    await page.goBack();
    await expect(dialog).toBeHidden();
  });
});

test("P-5: Escape closes the zoom also after a second click while its code loaded", async ({
  page,
  demo,
}) => {
  const release = await holdRequests(page, /\/artwork-zoom-[^/]+\.js$/);
  await page.goto(`${demo.url}/gallery/all`);
  await page.getByRole("link", { name: /Telhados, manhã/ }).click();
  const open = page.getByRole("button", { name: "Look closer at Telhados, manhã" });
  const requested = page.waitForRequest(/\/artwork-zoom-[^/]+\.js$/);
  await open.click();
  await requested; // by the render after the first click
  await open.click();
  release();
  await expect(zoom(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(zoom(page)).toBeHidden();
  await expect(page.getByRole("dialog", { name: "Telhados, manhã" })).toBeVisible();
});

/** Runs a separate server. Leaves the page before the server stops, because pending requests would fail. */
async function onServer(
  page: Page,
  options: { demo?: string },
  run: (server: Server) => Promise<void>,
) {
  const server = await startServer("sqlite", options);
  try {
    await run(server);
    await page.goto("about:blank");
  } finally {
    await server.stop();
  }
}

test.describe("by touch", () => {
  test.use({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true });

  test("P-9: two fingers magnify the point between them, up to single pixels, by tiles", async ({
    page,
  }) => {
    await onServer(page, {}, async (server) => {
      const size = { width: 5000, height: 4200 };
      const client = asService(server);
      await page.goto(server.url);
      const bucket = client.storage.from("product-images");
      const stored = await bucket.upload(
        "wide.jpg",
        await makeJpeg(page, { ...size, quality: 0.7 }),
        { contentType: "image/jpeg" },
      );
      expect(stored.error).toBeNull();
      const image_url = bucket.getPublicUrl("wide.jpg").data.publicUrl;
      const inserted = await client
        .from("products")
        .insert({ title: "Wide", artwork_type: "mural", image_url });
      expect(inserted.error).toBeNull();
      await server.command(["media", "rebuild"]); // on a busy machine 25 tiles take longer than the request of a browser waits

      const tilesAsked: string[] = [];
      page.on("request", (request) => {
        if (request.url().includes("tile=")) tilesAsked.push(request.url());
      });
      await page.goto(`${server.url}/gallery/all`);
      await page.getByRole("link", { name: "Open Wide" }).click();
      await page.getByRole("button", { name: "Look closer at Wide" }).click();
      await expect(times(page)).toHaveText("1 ×");
      await finishAnimations(page);
      const work = zoom(page).getByRole("img", { name: "Wide" });
      const whole = (await work.boundingBox())!;
      expect(whole.width / whole.height).toBeCloseTo(size.width / size.height, 1);
      expect(tilesAsked).toEqual([]);

      // Two fingers at the height of the work's centre, left and right of it.
      const at = { x: 150, y: whole.y + whole.height / 2 };
      const cdp = await page.context().newCDPSession(page);
      const touch = (type: "touchStart" | "touchMove" | "touchEnd", apart?: number) =>
        cdp.send("Input.dispatchTouchEvent", {
          type,
          touchPoints: apart
            ? [
                { x: at.x - apart / 2, y: at.y, id: 0 },
                { x: at.x + apart / 2, y: at.y, id: 1 },
              ]
            : [],
        });
      async function pinch(activeSource: number, to: number) {
        await touch("touchStart", activeSource);
        for (let n = 1; n <= 4; n++)
          await touch("touchMove", activeSource + ((to - activeSource) * n) / 4);
        await touch("touchEnd");
      }
      await pinch(80, 240);
      await expect(times(page)).toHaveText("3 ×");
      await finishAnimations(page);
      const near = (await work.boundingBox())!;
      expect(near.width).toBeCloseTo(3 * whole.width, -1);
      const under = (box: typeof near) => (at.x - box.x) / box.width;
      expect(under(near)).toBeCloseTo(under(whole), 1);

      await pinch(40, 280);
      await expect(times(page)).toHaveText(/^(1[5-9]|2\d)(\.\d)? ×$/);
      const tiles = zoom(page).locator("img[src*='tile=']");
      await expect.poll(() => tiles.count()).toBeGreaterThan(0);
      await expect
        .poll(() =>
          tiles.evaluateAll((all) =>
            all.every((tile) => (tile as HTMLImageElement).naturalWidth > 0),
          ),
        )
        .toBe(true);
      await finishAnimations(page);
      // Each tile has the position and the size of its pixels.
      const box = (await work.boundingBox())!;
      const scale = box.width / size.width;
      const lying = await tiles.evaluateAll((all) =>
        all.map((tile) => {
          const { x, y, width } = tile.getBoundingClientRect();
          const image = tile as HTMLImageElement;
          const [column, row] = /tile=(\d+),(\d+)/.exec(image.src)!.slice(1).map(Number);
          return { x, y, width, natural: image.naturalWidth, column: column!, row: row! };
        }),
      );
      for (const tile of lying) {
        expect(tile.natural).toBe(Math.min(1024, size.width - tile.column * 1024));
        expect(tile.width).toBeCloseTo(tile.natural * scale, 0);
        expect(tile.x).toBeCloseTo(box.x + tile.column * 1024 * scale, 0);
        expect(tile.y).toBeCloseTo(box.y + tile.row * 1024 * scale, 0);
      }
      // Only tiles on the screen are requested, not all twenty-five.
      expect(new Set(tilesAsked).size).toBeLessThan(12);

      await pinch(280, 40);
      await pinch(280, 40);
      await expect(times(page)).toHaveText("1 ×");
    });
  });
});

test.describe("without renditions", () => {
  test.use({ allowedConsole: [/net::ERR_FAILED .*\/render\/image\//] });
  test("P-4: a picture without renditions is shown as it is stored", async ({ page, demo }) => {
    await page.route(/\/render\/image\//, (route) => route.abort());
    await page.goto(`${demo.url}/gallery/all`);
    const first = page.locator("[role=listitem] img").first();
    await expect(first).toHaveJSProperty("complete", true);
    await expect
      .poll(() => first.evaluate((image: HTMLImageElement) => image.currentSrc))
      .toContain("/object/public/");
    await expect
      .poll(() => first.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(0);
  });
});

test("P-7: the owner sets the focus point by click and by key, and it stays visible on portrait screens", async ({
  page,
  demoFolder,
}) => {
  await onServer(page, { demo: demoFolder }, async (server) => {
    await signInAt(page, server, "/admin/cover-images");
    const picker = page.getByRole("button", { name: /^Point that stays in sight/ }).first();
    const box = (await picker.boundingBox())!;
    // The accessible name changes at once, before the server has stored the focus point.
    const stored = () =>
      page.waitForResponse((response) => response.url().includes("set_media_focus"));
    const clicked = stored();
    await picker.click({ position: { x: box.width * 0.2, y: box.height * 0.5 } });
    await expect(picker).toHaveAccessibleName(/23% from the left, 50% from the top/);
    expect((await clicked).ok()).toBe(true);
    const pressed = stored();
    await picker.press("ArrowRight");
    await expect(picker).toHaveAccessibleName(/28% from the left/);
    expect((await pressed).ok()).toBe(true);
    await expect(page.getByText(/colours (kept|very close), ΔE \d/).first()).toBeVisible();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(server.url);
    await expect(page.locator("[data-hero] img").first()).toHaveCSS(
      "object-position",
      /^28(\.\d+)?% (49|50)(\.\d+)?%$/,
    );
  });
});
