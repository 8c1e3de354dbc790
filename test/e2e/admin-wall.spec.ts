// The wall of works: ordering by hand, changing many works at once, and 5,000 works.
import type { Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { cpuTime, signInAt } from "./admin.ts";
import { expect, expectAccessibleInBothSchemes, expectNoSidewaysScroll, test } from "./fixtures.ts";
import { languages, repetition, text } from "./texts.ts";

const WORKS = 5000;
const WALL = "/admin/products?as=wall&sort=manual&q=study";

let server: Server;

test.use({
  contextOptions: { reducedMotion: "reduce" },
  allowedConsole: [/ERR_FAILED .*\/rest\/v1\/products/],
});

test.beforeAll(async ({ demoFolder }) => {
  server = await startServer("sqlite", { demo: demoFolder });
  const rows = Array.from({ length: WORKS }, (_, n) => ({
    title: `Study ${String(n + 1).padStart(4, "0")}`,
    artwork_type: "oil",
    created_at: new Date(Date.UTC(2020, 0, 1) - n * 60_000).toISOString(),
  }));
  for (let at = 0; at < rows.length; at += 500) {
    const { error } = await asService(server)
      .from("products")
      .insert(rows.slice(at, at + 500));
    expect(error).toBeNull();
  }
});
test.afterAll(() => server.stop());

const picture = (page: Page, title: string) =>
  page.getByRole("button", { name: `Select ${title}`, exact: true });

/** Returns the titles of the first works in the order by hand. */
async function order(count: number): Promise<string[]> {
  const { data } = await asAnon(server)
    .from("products")
    .select("title")
    .like("title", "Study %")
    .order("position")
    .limit(count)
    .throwOnError();
  return data.map(({ title }) => title.slice(-4));
}

/** Returns the titles of the first works in the order by hand, also of works that the wall does not show. */
async function orderOfAll(): Promise<string[]> {
  const { data } = await asAnon(server)
    .from("products")
    .select("title")
    .order("position")
    .limit(100)
    .throwOnError();
  return data.map(({ title }) => title);
}

/** Records the requests that change works. */
function watchWrites(page: Page): string[] {
  const writes: string[] = [];
  page.on("request", (request) => {
    if (!["GET", "HEAD"].includes(request.method()) && request.url().includes("/rest/v1/"))
      writes.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  return writes;
}

async function dragTo(page: Page, from: string, to: string, side: "left" | "right"): Promise<void> {
  await picture(page, from).hover();
  await page.mouse.down();
  const box = (await picture(page, to).boundingBox())!;
  const x = side === "left" ? box.x + 4 : box.x + box.width - 4;
  await page.mouse.move(x, box.y + box.height / 2, { steps: 8 });
  await page.mouse.up();
}

test("A-wall-drag: dragging a work to another place sends one request, and can be undone", async ({
  page,
}) => {
  const before = await orderOfAll();
  expect(before[0]).not.toMatch(/^Study/); // the demo works come first, and the wall does not show them
  await signInAt(page, server, WALL);
  await expect(picture(page, "Study 0001")).toBeVisible();
  const writes = watchWrites(page);
  await dragTo(page, "Study 0001", "Study 0003", "right");
  await expect(page.getByText("Order saved")).toBeVisible();
  expect(writes).toEqual(["POST /rest/v1/rpc/move_work"]);
  expect(await order(4)).toEqual(["0002", "0003", "0001", "0004"]);
  // The release of the mouse is no click on a work, and must not swallow the next one, by keyboard.
  await picture(page, "Study 0002").press(" ");
  await expect(picture(page, "Study 0002")).toHaveAttribute("aria-pressed", "true");
  await picture(page, "Study 0002").press("Escape");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("The change is undone")).toBeVisible();
  expect(await orderOfAll()).toEqual(before);
});

test("A-wall-many: twelve works are featured with four presses and one request, and the change can be undone", async ({
  page,
}) => {
  await signInAt(page, server, WALL);
  await picture(page, "Study 0001").click();
  await picture(page, "Study 0012").click({ modifiers: ["Shift"] });
  await expect(page.getByText("Selected: 12")).toBeVisible();
  const writes = watchWrites(page);
  await page.getByRole("button", { name: "Feature", exact: true }).click();
  await expect(page.getByText("Works changed: 12")).toBeVisible();
  expect(writes).toEqual(["PATCH /rest/v1/products"]);
  const featured = () =>
    asAnon(server)
      .from("products")
      .select("id", { count: "exact", head: true })
      .eq("is_featured", true)
      .like("title", "Study %");
  expect((await featured()).count).toBe(12);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("The change is undone")).toBeVisible();
  expect((await featured()).count).toBe(0);

  await page.getByRole("button", { name: "Type, medium, date, tags" }).click();
  await page.getByRole("dialog").getByLabel("Medium", { exact: true }).fill("Oil on linen");
  await page.getByRole("dialog").getByLabel("Tags").fill("study, sea");
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("Works changed: 12")).toBeVisible();
  const { data } = await asAnon(server)
    .from("products")
    .select("medium,tags,artwork_type")
    .eq("title", "Study 0007")
    .single();
  expect(data).toEqual({ medium: "Oil on linen", tags: ["study", "sea"], artwork_type: "oil" });
});

test("A-wall-delete: selected works are deleted after a question, and can be brought back to their places", async ({
  page,
}) => {
  await signInAt(page, server, WALL);
  await picture(page, "Study 0002").click();
  await picture(page, "Study 0003").click({ modifiers: ["Shift"] });
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const writes = watchWrites(page);
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("Works deleted: 2")).toBeVisible();
  expect(writes).toEqual(["DELETE /rest/v1/products"]);
  expect(await order(2)).toEqual(["0001", "0004"]);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("The change is undone")).toBeVisible();
  expect(await order(4)).toEqual(["0001", "0002", "0003", "0004"]);
});

test("A-wall-many: a change that fails is undone on the page, with an error", async ({ page }) => {
  await signInAt(page, server, WALL);
  await page.route("**/rest/v1/products?*", (route) =>
    route.request().method() === "PATCH" ? route.abort() : route.fallback(),
  );
  const featured = page.getByRole("switch", { name: "Featured: Study 0001" });
  await featured.click();
  await expect(page.getByText("The works could not be changed.")).toBeVisible();
  await expect(featured).not.toBeChecked();
});

test("A-wall-keys: the owner selects, moves and switches works by keyboard, and screen readers announce it", async ({
  page,
}) => {
  await signInAt(page, server, WALL);
  await picture(page, "Study 0001").focus();
  await page.keyboard.press("ArrowRight");
  await expect(picture(page, "Study 0002")).toBeFocused();
  await page.keyboard.press("Alt+ArrowLeft");
  await expect(page.getByText("Study 0002 is now 1 of 5000")).toBeAttached();
  await expect(picture(page, "Study 0002")).toBeFocused();
  await expect.poll(() => order(2)).toEqual(["0002", "0001"]);
  await page.keyboard.press("Alt+ArrowRight");
  await expect.poll(() => order(2)).toEqual(["0001", "0002"]);
  await page.keyboard.press("Space");
  await page.keyboard.press("Shift+ArrowRight");
  await expect(page.getByText("Selected: 2")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByText("Selected: 2")).toBeHidden();
  await page.keyboard.press("Tab"); // the title, which opens the form
  await page.keyboard.press("Tab");
  const featured = page.getByRole("switch", { name: "Featured: Study 0003" });
  await expect(featured).toBeFocused();
  await page.keyboard.press("Space");
  await expect(featured).toBeChecked();
  await page.keyboard.press("Space");
  await expect(featured).not.toBeChecked();
  await picture(page, "Study 0003").focus();
  await page.keyboard.press("End");
  await expect(picture(page, "Study 5000")).toBeFocused();
});

test("A-wall-lasso: a rectangle that begins between works selects the works that it touches", async ({
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await signInAt(page, server, WALL);
  const first = (await picture(page, "Study 0001").boundingBox())!;
  const third = (await picture(page, "Study 0003").boundingBox())!;
  await page.mouse.move(first.x - 3, first.y - 3);
  await page.mouse.down();
  await page.mouse.move(third.x + 20, third.y + 20, { steps: 5 });
  await page.mouse.up();
  await expect(page.getByText("Selected: 3")).toBeVisible();
});

test("A-wall-phone: on a phone a long press selects a work, a tap opens it, and a finger drags it by its handle", async ({
  browser,
}) => {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  await signInAt(page, server, WALL);
  await expect(picture(page, "Study 0001")).toBeVisible();
  const touch = await context.newCDPSession(page);
  const send = (type: "touchStart" | "touchMove" | "touchEnd", x = 0, y = 0) =>
    touch.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: type === "touchEnd" ? [] : [{ x, y }],
    });
  const centre = async (title: string) => {
    await picture(page, title).scrollIntoViewIfNeeded();
    const box = (await picture(page, title).boundingBox())!;
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const at = await centre("Study 0001");
  await send("touchStart", at.x, at.y);
  await expect(page.getByText("Selected: 1")).toBeVisible();
  await send("touchEnd");
  await picture(page, "Study 0002").tap();
  await expect(page.getByText("Selected: 2")).toBeVisible();
  await page.getByRole("button", { name: "Clear selection" }).tap();

  await picture(page, "Study 0001").tap();
  const dialog = page.getByRole("dialog", { name: "Edit Product" });
  await expect(dialog).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();

  const grip = page.locator('[data-index="0"] [data-grip]');
  await grip.scrollIntoViewIfNeeded();
  const from = (await grip.boundingBox())!;
  const to = (await picture(page, "Study 0002").boundingBox())!;
  await send("touchStart", from.x + 22, from.y + 22);
  await send("touchMove", from.x + 60, from.y);
  await send("touchMove", to.x + to.width - 2, to.y + 40);
  await send("touchEnd");
  await expect.poll(() => order(2)).toEqual(["0002", "0001"]);
  await expect(page.getByRole("button", { name: "Undo" })).toBeVisible();
  const works = asService(server);
  const { data } = await works.from("products").select("id").eq("title", "Study 0001").single();
  const moved = await works.rpc("move_work", { ids: [data!.id], place: "first", target: null });
  expect(moved.error).toBeNull();
  expect(await order(2)).toEqual(["0001", "0002"]);
  await context.close();
});

test("A-wall-smooth: of 5,000 works only few are rendered, and each frame of a drag takes less CPU time than its length", async ({
  page,
}, testInfo) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await signInAt(page, server, WALL);
  await expect(picture(page, "Study 0001")).toBeVisible();
  await picture(page, "Study 0001").hover();
  await page.mouse.down();
  const frames = 120;
  const used = await cpuTime(page, async () => {
    for (let n = 0; n < frames; n++)
      await page.mouse.move(40 + ((n * 7) % 300), 300 + ((n * 5) % 300));
  });
  const perMove = used / frames;
  await page.keyboard.press("Escape");
  await page.mouse.up();
  testInfo.annotations.push({ type: "per move", description: `${perMove.toFixed(1)} ms` });
  expect(perMove).toBeLessThan(1000 / 60);
  expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(3_000);
  expect(await order(2)).toEqual(["0001", "0002"]);
  await page.evaluate(() =>
    scrollTo({ top: document.documentElement.scrollHeight / 2, behavior: "instant" }),
  );
  await expect(page.getByRole("button", { name: /^Select Study 2/ }).first()).toBeVisible();
});

/** The most elements whose styles one frame computed while `act` ran. */
async function mostRestyled(page: Page, act: () => Promise<void>): Promise<number> {
  const browser = page.context().browser()!;
  await browser.startTracing(page, { categories: ["devtools.timeline"] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: { name: string; args: { elementCount?: number } }[];
  };
  const counts = traceEvents.flatMap(({ name, args }) =>
    name === "UpdateLayoutTree" && args.elementCount !== undefined ? [args.elementCount] : [],
  );
  return Math.max(...counts);
}

test("A-wall-smooth: rows that come while a work is dragged down the wall restyle no other elements", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await signInAt(page, server, WALL);
  await picture(page, "Study 0001").hover();
  await page.mouse.down();
  await page.mouse.move(200, 400);
  await expect(page.locator("[data-index='12']")).toHaveCount(0);
  const most = await mostRestyled(page, async () => {
    await page.mouse.move(200, 830); // the page scrolls while the pointer is at its edge
    await expect(page.locator("[data-index='24']")).toBeAttached();
  });
  const all = await page.evaluate(() => document.querySelectorAll("body *").length);
  await page.keyboard.press("Escape");
  await page.mouse.up();
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(all / 2);
});

/** The controls that a toast covers, of the bar and, if `last` is given, of that work. */
const covered = (page: Page, last = "") =>
  page.evaluate((index) => {
    const toasts = [...document.querySelectorAll("[data-sonner-toast][data-visible=true]")];
    if (toasts.length === 0) return ["no toast is there"];
    const controls = document.querySelectorAll(
      `[data-sticky-foot] button${index && `, [data-index="${index}"] :is(button, [data-grip])`}`,
    );
    if (controls.length === 0) return ["no control is there"];
    return [...controls]
      .filter((control) => {
        const a = control.getBoundingClientRect();
        return toasts.some((toast) => {
          const b = toast.getBoundingClientRect();
          return a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
        });
      })
      .map((control) => control.getAttribute("aria-label") ?? control.textContent);
  }, last);

for (const [name, width, height] of [
  ["phone", 390, 844],
  ["desk", 1440, 900],
] as const)
  test(`A-wall-toast: on a ${name} a toast covers neither the bar nor the last works`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height });
    await signInAt(page, server, WALL);
    const toEnd = () =>
      page.evaluate(() =>
        scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" }),
      );
    await expect(picture(page, "Study 0001")).toBeVisible();
    // The bar at the foot of the window.
    await picture(page, "Study 0002").click();
    await page.getByRole("button", { name: "Feature", exact: true }).click();
    await expect(page.getByText("Works changed: 1")).toBeVisible();
    await expect.poll(() => covered(page)).toEqual([]);
    // The bar, and the work above it, at the end of the page.
    await toEnd();
    await expect(picture(page, `Study ${WORKS}`)).toBeVisible();
    await page.getByRole("button", { name: "Do not feature" }).click();
    await expect(page.getByRole("button", { name: "Feature", exact: true })).toBeVisible();
    const columns = Math.floor(
      (await page.locator("ul:has([data-index])").boundingBox())!.width / 156,
    );
    const leftmost = String(Math.floor((WORKS - 1) / columns) * columns);
    await expect.poll(() => covered(page, leftmost)).toEqual([]);
    // Without the bar.
    await page.getByRole("button", { name: "Clear selection" }).click();
    await toEnd();
    await expect
      .poll(async () => (await covered(page, leftmost)).filter((label) => !label.startsWith("no ")))
      .toEqual([]);
    const stock = page.locator(`[data-index="${leftmost}"]`).getByRole("switch").last();
    await stock.click();
    await expect(stock).not.toBeChecked();
    await stock.click();
    await expect(stock).toBeChecked();
  });

for (const language of languages)
  test(`A-wall-axe: axe: the wall, its bar and its dialog at 390 and 1440 px, in ${repetition(language)}`, async ({
    page,
  }) => {
    await signInAt(page, server, "/admin/products?as=wall&sort=manual", language);
    for (const width of [390, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const tile = page.locator("[data-index='1'] [data-picture]");
      await expect(tile).toHaveAttribute("aria-pressed", /true|false/); // not before the work has loaded
      if ((await tile.getAttribute("aria-pressed")) === "false") {
        await tile.focus();
        await page.keyboard.press("Space");
      }
      await expect(page.getByRole("region", { name: text(language, "wall.bar") })).toBeVisible();
      await expectNoSidewaysScroll(page);
      await expectAccessibleInBothSchemes(page, async (scheme) => {
        if (process.env.SHOTS)
          await page.screenshot({
            path: `${process.env.SHOTS}/wall-${language}-${width}-${scheme}.png`,
          });
      });
    }
    await page.getByRole("button", { name: text(language, "wall.change") }).click();
    await expect(page.getByRole("dialog")).toBeVisible();
    await expectAccessibleInBothSchemes(page);
  });
