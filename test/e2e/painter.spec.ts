// What a painter does often, on a desk and on a phone, counted in taps (a press, a drag, a tap or a choice each), swipes and keys. The
// counts are what is promised. What a person needs for them follows from the usual times of the keystroke-level model: 1.1 s to point
// at something, and 0.3 s a key, which is 40 words of five characters a minute. The times of the machine are only printed.
import type { Locator, Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { png } from "../harness/png.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { expect, test } from "./fixtures.ts";

let server: Server;

test.use({ contextOptions: { reducedMotion: "reduce" } });

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

const SECONDS_A_TAP = 1.1; // of a swipe too
const SECONDS_A_KEY = 0.3;

/** Counts the taps, swipes and keys of a task, and prints them with the time that it took. */
class Task {
  taps = 0;
  swipes = 0;
  keys = 0;
  private readonly begin = Date.now();
  private readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** Counts one tap, which `act` makes. */
  async tap(act: () => Promise<unknown>): Promise<void> {
    this.taps++;
    await act();
  }

  /** Types a text into the field that has the focus. */
  async type(page: Page, text: string): Promise<void> {
    this.keys += text.length;
    await page.keyboard.type(text);
  }

  /** Scrolls with the finger, or the wheel on a desk, until an element is in the part of the window that nothing covers. */
  async reveal(page: Page, element: Locator): Promise<void> {
    const { height } = page.viewportSize()!;
    const [top, foot] = [80, height - 130];
    for (;;) {
      const box = (await element.boundingBox().catch(() => null))!;
      const middle = box.y + box.height / 2;
      if (middle > top && middle < foot) return;
      this.swipes++;
      expect(this.swipes).toBeLessThan(50);
      await swipe(page, middle > foot ? 1 : -1, element);
    }
  }

  /** What a person needs for the task, in seconds. */
  get seconds(): number {
    return (this.taps + this.swipes) * SECONDS_A_TAP + this.keys * SECONDS_A_KEY;
  }

  /** Ends the task, which may have had `most` taps. */
  end(most: number): void {
    const machine = ((Date.now() - this.begin) / 1000).toFixed(1);
    process.stdout.write(
      `  ${this.name}: ${this.taps} taps, ${this.swipes} swipes, ${this.keys} keys: ${this.seconds.toFixed(0)} s by a person, ${machine} s by the test\n`,
    );
    expect(this.taps).toBeLessThanOrEqual(most);
  }
}

/** Scrolls by two thirds of the window, and waits until the page has moved or the element is rendered. */
async function swipe(page: Page, direction: 1 | -1, element: Locator): Promise<void> {
  const before = await page.evaluate(() => scrollY);
  await page.evaluate(
    (by) => scrollBy({ top: by * innerHeight * 0.66, behavior: "instant" }),
    direction,
  );
  const moved = async () => (await page.evaluate(() => scrollY)) !== before;
  await expect.poll(async () => (await moved()) || element.isVisible()).toBe(true);
}

/** Presses a picture for long, which selects it. */
async function longPress(page: Page, target: Locator): Promise<void> {
  const touch = await page.context().newCDPSession(page);
  const box = (await target.boundingBox())!;
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [at] });
  await expect(page.getByText("Selected: 1", { exact: true })).toBeVisible();
  await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await touch.detach();
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

/** Drags a handle or picture to the left edge of a work, by mouse or finger. */
async function drag(page: Page, from: Locator, to: Locator): Promise<void> {
  await from.hover(); // waits until no toast covers the work
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

test("A-painter-order: twenty works are reordered on a desktop, each with one drag", async ({
  browser,
}) => {
  const context = await browser.newContext({ ...desk, reducedMotion: "reduce" });
  const page = await context.newPage();
  await signInAt(page, server, WALL);
  await expect(picture(page, "Study 20")).toBeVisible();
  const before = await order();
  const task = new Task("reorder 20 works on a desk");
  // Each work is dragged before the one that has just become the first, so the order is reversed.
  for (let n = 1; n < before.length; n++) {
    const saved = page.waitForResponse((response) => response.url().endsWith("/rpc/move_work"));
    await task.tap(() => drag(page, picture(page, before[n]!), picture(page, before[n - 1]!)));
    await saved;
  }
  task.end(20);
  expect(await order()).toEqual(before.toReversed());
  await context.close();
});

for (const [name, device] of Object.entries({ desk, phone }))
  test(`A-painter-select: on a ${name} twenty works are put in another order in less than 40 seconds, by selecting them in it`, async ({
    browser,
  }) => {
    const context = await browser.newContext({ ...device, reducedMotion: "reduce" });
    const page = await context.newPage();
    await signInAt(page, server, WALL);
    const before = await order();
    await expect(picture(page, before[0]!)).toBeVisible();
    const task = new Task(`reorder 20 works on a ${name}`);
    // The reverse order is the one that takes the most scrolling: from the last work to the first.
    const last = picture(page, before.at(-1)!);
    while (!(await last.isVisible())) {
      task.swipes++;
      await swipe(page, 1, last);
    }
    for (const [n, title] of before.toReversed().entries()) {
      await task.reveal(page, picture(page, title));
      await task.tap(() => {
        if (name === "desk") return picture(page, title).click();
        return n === 0 ? longPress(page, picture(page, title)) : picture(page, title).tap();
      });
      await expect(picture(page, title)).toHaveAccessibleDescription(String(n + 1));
    }
    const first = page.getByRole("button", { name: "To the top" });
    if (name === "phone") task.swipes++; // the bar scrolls sideways
    await task.tap(() => first.click());
    await expect(page.getByText("Order saved")).toBeVisible();
    task.end(21);
    expect(task.seconds).toBeLessThanOrEqual(40);
    expect(await order()).toEqual(before.toReversed());
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(page.getByText("The change is undone")).toBeVisible();
    expect(await order()).toEqual(before);
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

  // On a phone, the twelve works that a search has found are selected together.
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
  await byFinger.reveal(small, picture(small, first!));
  await byFinger.tap(() => longPress(small, picture(small, first!)));
  await byFinger.tap(() => small.getByRole("button", { name: "Select all" }).tap());
  await byFinger.tap(() => small.getByRole("button", { name: "Feature", exact: true }).tap());
  await expect(small.getByText("Works changed: 12")).toBeVisible();
  byFinger.end(4);
  expect(await featuredStudies()).toBe(12);
  await onPhone.close();
});

test("A-painter-add: a work is added with at most five taps on a phone", async ({ browser }) => {
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

test("A-painter-add: on a phone a work is added through its form with at most five taps", async ({
  browser,
}) => {
  const context = await browser.newContext({ ...phone, reducedMotion: "reduce" });
  const page = await context.newPage();
  await signInAt(page, server, "/admin/products");
  const task = new Task("add a work through its form on a phone");
  await task.tap(() => page.getByRole("button", { name: "Add Product" }).tap());
  const form = page.getByRole("dialog");
  await task.tap(() => form.getByRole("textbox", { name: "Title", exact: true }).tap());
  await task.type(page, "Baixa-mar");
  const mainImage = form.getByRole("group", { name: "Main image" });
  const chooser = page.waitForEvent("filechooser");
  task.swipes++; // the pictures are below the texts
  // The visible area is the label of the file input.
  await task.tap(() => mainImage.locator("label").tap());
  const file = { name: "baixa-mar.png", mimeType: "image/png", buffer: png(300, 200) };
  await task.tap(async () => (await chooser).setFiles(file)); // a tap on the picture
  await expect(mainImage.getByRole("button", { name: "Replace" })).toBeVisible();
  await task.tap(() => form.getByRole("button", { name: "Save", exact: true }).tap());
  await expect(page.getByText("Product created")).toBeVisible();
  task.end(5);
  const { data } = await asAnon(server)
    .from("products")
    .select("image_url")
    .eq("title", "Baixa-mar")
    .single();
  expect(data!.image_url).toContain("/product-images/");
  await context.close();
});

test("A-painter-words: on a phone a work gets title and description in both languages within a minute of typing", async ({
  browser,
}) => {
  const words = {
    title: "Harbour at dawn",
    title_pt: "Porto ao amanhecer",
    description: "Boats wait for the tide while the town behind them is still asleep.",
    description_pt: "Os barcos esperam pela maré enquanto a vila atrás deles dorme.",
  };
  const context = await browser.newContext({ ...phone, reducedMotion: "reduce" });
  const page = await context.newPage();
  await signInAt(page, server, "/admin/products");
  const task = new Task("a work in both languages on a phone");
  await task.tap(() => page.getByRole("button", { name: "Add Product" }).tap());
  const form = page.getByRole("dialog");
  for (const [label, value] of [
    ["Title", words.title],
    ["Title in Portuguese", words.title_pt],
    ["Description", words.description],
    ["Description in Portuguese", words.description_pt],
  ] as const) {
    await task.tap(() => form.getByRole("textbox", { name: label, exact: true }).tap());
    await task.type(page, value);
  }
  await task.tap(() => form.getByRole("button", { name: "Save", exact: true }).tap());
  await expect(page.getByText("Product created")).toBeVisible();
  task.end(6);
  expect(task.seconds).toBeLessThanOrEqual(60);
  const { data } = await asAnon(server)
    .from("products")
    .select("title, title_pt, description, description_pt")
    .eq("title", words.title)
    .single();
  expect(data).toEqual(words);
  await context.close();
});

test("A-painter-cover: on a phone a cover gets the picture of a work with at most three taps", async ({
  browser,
}) => {
  const context = await browser.newContext({ ...phone, reducedMotion: "reduce" });
  const page = await context.newPage();
  await signInAt(page, server, "/admin/cover-images");
  const task = new Task("change a cover to an existing work on a phone");
  await task.tap(() => page.getByRole("button", { name: "Choose from works for" }).first().tap());
  const dialog = page.getByRole("dialog", { name: "Choose from works" });
  await task.tap(() => dialog.getByRole("button", { name: "Choose Onda", exact: true }).tap());
  await expect(page.getByText("Cover image updated successfully")).toBeVisible();
  task.end(3);
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
