// What a painter does often, counted in taps (a press, a drag, a tap or a choice each), on a desk and on a phone. The times are printed,
// because they depend on the machine; the taps are what is promised.
import type { Locator, Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { png } from "../harness/png.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { expect, test } from "./fixtures.ts";

let server: Server;

test.use({ contextOptions: { reducedMotion: "reduce" } });
test.describe.configure({ timeout: 120_000 });

test.beforeAll(async ({ demoFolder }) => {
  server = await startServer("sqlite", { demo: demoFolder });
  const rows = Array.from({ length: 20 }, (_, n) => ({
    title: `Study ${String(n + 1).padStart(2, "0")}`,
    artwork_type: "acrylic",
    created_at: new Date(Date.UTC(2020, 0, 1) - n * 60_000).toISOString(),
  }));
  await asService(server).from("products").insert(rows).throwOnError();
});
test.afterAll(() => server.stop());

const desk = { viewport: { width: 1920, height: 1080 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const WALL = "/admin/products?as=wall&sort=manual&q=study";

const picture = (page: Page, title: string) =>
  page.getByRole("button", { name: `Select ${title}`, exact: true });

/** Counts the taps of a task, and prints them with the time that it took. */
class Task {
  taps = 0;
  private readonly begin = Date.now();
  private readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** One tap, which `act` makes. */
  async tap(act: () => Promise<unknown>): Promise<void> {
    this.taps++;
    await act();
  }

  /** Ends the task, which may have had `most` taps. */
  end(most: number): void {
    const seconds = ((Date.now() - this.begin) / 1000).toFixed(1);
    process.stdout.write(`  ${this.name}: ${this.taps} taps, ${seconds} s\n`);
    expect(this.taps).toBeLessThanOrEqual(most);
  }
}

/** The titles of the studies in the order by hand. */
async function order(): Promise<string[]> {
  const { data } = await asAnon(server)
    .from("products")
    .select("title")
    .like("title", "Study %")
    .order("position")
    .throwOnError();
  return data.map(({ title }) => title);
}

const featuredStudies = async () =>
  (
    await asAnon(server)
      .from("products")
      .select("id", { count: "exact", head: true })
      .eq("is_featured", true)
      .like("title", "Study %")
  ).count;

/** Drags a handle or picture to the left edge of a work, by the mouse or the finger. */
async function drag(page: Page, from: Locator, to: Locator): Promise<void> {
  await from.hover(); // waits until no toast covers it
  const start = (await from.boundingBox())!;
  const x = start.x + start.width / 2;
  const y = start.y + start.height / 2;
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 10, y - 10);
  const end = (await to.boundingBox())!;
  await page.mouse.move(end.x + 4, end.y + end.height / 2, { steps: 3 });
  await page.mouse.up();
}

test("A-painter-order: twenty works are put in another order on a desk, each with one drag", async ({
  browser,
}) => {
  const context = await browser.newContext({ ...desk, reducedMotion: "reduce" });
  const page = await context.newPage();
  await signInAt(page, server, WALL);
  await expect(picture(page, "Study 20")).toBeVisible();
  const before = await order();
  const task = new Task("reorder 20 works on a desk");
  // Each goes before the one that has just become the first, so that their order is reversed.
  for (let n = 1; n < before.length; n++) {
    const saved = page.waitForResponse((response) => response.url().endsWith("/rpc/move_work"));
    await task.tap(() => drag(page, picture(page, before[n]!), picture(page, before[n - 1]!)));
    await saved;
  }
  task.end(20);
  expect(await order()).toEqual(before.toReversed());
  await context.close();
});

test("A-painter-feature: twelve works are featured with at most four taps, on a desk and on a phone", async ({
  browser,
}) => {
  const onDesk = await browser.newContext({ ...desk, reducedMotion: "reduce" });
  const page = await onDesk.newPage();
  await signInAt(page, server, WALL);
  const [first, ...others] = await order();
  await expect(picture(page, first!)).toBeVisible();
  const task = new Task("feature 12 works on a desk");
  await task.tap(() => picture(page, first!).click());
  await task.tap(() => picture(page, others[10]!).click({ modifiers: ["Shift"] }));
  await task.tap(() => page.getByRole("button", { name: "Feature", exact: true }).click());
  await expect(page.getByText("Works changed: 12")).toBeVisible();
  task.end(4);
  expect(await featuredStudies()).toBe(12);
  await onDesk.close();

  // On a phone the twelve works of a search are selected together.
  await asService(server)
    .from("products")
    .update({ is_featured: false, tags: ["new"] })
    .in("title", [first!, ...others.slice(0, 11)])
    .throwOnError();
  const onPhone = await browser.newContext({ ...phone, reducedMotion: "reduce" });
  const small = await onPhone.newPage();
  await asService(server)
    .from("products")
    .update({ artwork_type: "oil" })
    .in("title", others.slice(11))
    .throwOnError();
  await signInAt(small, server, WALL);
  await expect(picture(small, first!)).toBeVisible();
  const byFinger = new Task("feature 12 works on a phone");
  await byFinger.tap(() => small.getByLabel("Artwork type").selectOption("Acrylic"));
  await expect(small).toHaveURL(/type=acrylic/);
  const touch = await onPhone.newCDPSession(small);
  await byFinger.tap(async () => {
    await picture(small, first!).scrollIntoViewIfNeeded();
    const box = (await picture(small, first!).boundingBox())!;
    const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [at] });
    await expect(small.getByText("Selected: 1", { exact: true })).toBeVisible();
    await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  });
  await byFinger.tap(() => small.getByRole("button", { name: "Select all" }).tap());
  await byFinger.tap(() => small.getByRole("button", { name: "Feature", exact: true }).tap());
  await expect(small.getByText("Works changed: 12")).toBeVisible();
  byFinger.end(4);
  expect(await featuredStudies()).toBe(12);
  await onPhone.close();
});

test("A-painter-add: on a phone a work is added with at most five taps", async ({ browser }) => {
  const context = await browser.newContext({ ...phone, reducedMotion: "reduce" });
  const page = await context.newPage();
  await signInAt(page, server, "/admin/products");
  const task = new Task("add a work on a phone");
  const chooser = page.waitForEvent("filechooser");
  await task.tap(() => page.getByRole("button", { name: "Add many pictures" }).tap());
  const file = { name: "maresia.png", mimeType: "image/png", buffer: png(300, 200) };
  await (await chooser).setFiles(file);
  await task.tap(() => page.getByRole("button", { name: "Save all" }).tap());
  await expect(page.getByText("Product created")).toBeVisible();
  task.end(5);
  const { data } = await asAnon(server)
    .from("products")
    .select("image_url")
    .eq("title", "Maresia")
    .single();
  expect(data!.image_url).toContain("/product-images/");
  await context.close();
});

test("A-painter-oil: on a phone oil works hang after two taps in the settings", async ({
  browser,
}) => {
  await asService(server)
    .from("products")
    .insert({ title: "Barco", artwork_type: "oil" })
    .throwOnError();
  const context = await browser.newContext({ ...phone, reducedMotion: "reduce" });
  const page = await context.newPage();
  await signInAt(page, server, "/admin/settings");
  const oil = page.getByRole("switch", { name: "Oil", exact: true });
  await expect(oil).not.toBeChecked();
  const task = new Task("hang oil works on a phone");
  await task.tap(() => oil.tap());
  await task.tap(() => page.getByRole("button", { name: "Save changes" }).tap());
  await expect(page.getByRole("button", { name: "Save changes" })).toBeDisabled();
  task.end(2);
  await page.goto(`${server.url}/gallery/oil`);
  await expect(page.getByText("Barco").first()).toBeVisible();
  await context.close();
});
