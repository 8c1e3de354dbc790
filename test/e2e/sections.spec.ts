// Numbers of cards and columns, and limits on lines, in the home page's sections and the gallery, measured in the
// browser.
import type { Locator, Page } from "@playwright/test";

import { asService } from "../harness/clients.ts";
import { startServer } from "../harness/server.ts";
import { renderInBrowser, expect, test } from "./fixtures.ts";

const strip = (page: Page) => page.getByRole("region", { name: "Trusted by 500+ clients" });
const reviews = (page: Page) => page.locator("#testimonials");
const cards = (section: Locator) => section.getByRole("listitem");

/** Returns how many cards fit into the width of their scroll container. */
async function cardsPerRow(section: Locator) {
  return cards(section)
    .first()
    .evaluate((card) => {
      const row = card.parentElement!;
      return row.getBoundingClientRect().width / card.getBoundingClientRect().width;
    });
}

test("S2-route-1 S9-claims-1: the sections of the home page are hero, works, testimonials, about, contact and footer, in this order", async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  await expect(reviews(page)).toBeAttached();
  await expect(strip(page)).toBeAttached();
  const parts = [
    page.getByRole("region", { name: "Featured covers" }),
    strip(page),
    page.locator("#testimonials"),
    page.locator("#about"),
    page.locator("#contact"),
    page.getByRole("contentinfo"),
  ];
  await expect
    .poll(async () => {
      const tops = await Promise.all(parts.map(async (one) => (await one.boundingBox())!.y));
      return tops.every((top, n) => n === 0 || top > tops[n - 1]!);
    })
    .toBe(true);
});

test("S2-route-10: no page offers to sign up", async ({ page, demo }) => {
  for (const path of ["/", "/admin/auth"]) {
    await page.goto(demo.url + path);
    await expect(page.getByRole("banner")).toBeVisible();
    await expect(page.getByText(/sign up|register|create an account/i)).toHaveCount(0);
  }
  await expect(page.getByRole("heading", { level: 1, name: "Sign in" })).toBeVisible();
});

test("S9-cards-1: review cards in a row: 1 on a phone, 2 on medium and 3 on large screens", async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  for (const { width, count } of [
    { width: 390, count: 1 },
    { width: 768, count: 2 },
    { width: 1024, count: 3 },
    { width: 1440, count: 3 },
  ]) {
    await page.setViewportSize({ width, height: 900 });
    await expect.poll(() => cardsPerRow(reviews(page)), `at ${width} px`).toBeCloseTo(count, 1);
  }
});

test("S9-cards-1: work cards in a row: three quarters of the width on a phone, then 2, 3 and 4", async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  for (const { width, count } of [
    { width: 390, count: 4 / 3 },
    { width: 768, count: 2 },
    { width: 1024, count: 3 },
    { width: 1280, count: 4 },
  ]) {
    await page.setViewportSize({ width, height: 900 });
    await expect.poll(() => cardsPerRow(strip(page)), `at ${width} px`).toBeCloseTo(count, 1);
  }
});

test("S9-cards-1: columns of the gallery: 1, 2, 3 and 4", async ({ page, demo }) => {
  await page.goto(`${demo.url}/gallery/all`);
  const works = page.getByRole("link", { name: /^Open / });
  for (const { width, count } of [
    { width: 390, count: 1 },
    { width: 640, count: 2 },
    { width: 1024, count: 3 },
    { width: 1280, count: 4 },
  ]) {
    await page.setViewportSize({ width, height: 900 });
    await expect
      .poll(
        () =>
          works.evaluateAll(
            (all) => new Set(all.map((one) => Math.round(one.getBoundingClientRect().left))).size,
          ),
        `at ${width} px`,
      )
      .toBe(count);
  }
});

test("S2-home-4 S9-cards-1: a long review shows four lines in its card and the whole text in its dialog", async ({
  page,
}) => {
  const server = await startServer("sqlite");
  try {
    const message = "She listened, came back with three sketches, and painted the wall. ".repeat(
      20,
    );
    const { error } = await asService(server).from("reviews").insert({
      client_name: "Luísa",
      location: "Évora",
      message: message.trim(),
      is_active: true,
    });
    expect(error).toBeNull();
    await page.goto(server.url);
    const card = reviews(page).getByRole("button", { name: /Luísa/ });
    const text = card.getByText(/^“She listened/);
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const lines = await text.evaluate((element) => ({
        shown: element.clientHeight / parseFloat(getComputedStyle(element).lineHeight),
        hidden: element.scrollHeight > element.clientHeight,
      }));
      expect(lines.hidden).toBe(true);
      expect(Math.round(lines.shown)).toBe(4);
    }
    await card.click();
    const dialog = page.getByRole("dialog", { name: "Review by Luísa" });
    await expect(dialog).toContainText(message.trim());
    expect(
      await dialog
        .getByText(/^“She listened/)
        .evaluate((element) => element.scrollHeight - element.clientHeight),
    ).toBeLessThanOrEqual(0);
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
  } finally {
    await page.close(); // an open page would send requests to the stopped server
    await server.stop();
  }
});

test("S9-dots-1: works and reviews have at most five dots, which neither pointer nor keyboard can reach", async ({
  page,
}) => {
  const server = await startServer("sqlite");
  try {
    const service = asService(server);
    const rows = Array.from({ length: 12 }, (_, n) => n + 1);
    const works = await service
      .from("products")
      .insert(rows.map((n) => ({ title: `Work ${n}`, artwork_type: "mural", is_featured: true })));
    const insertedReviews = await service.from("reviews").insert(
      rows.map((n) => ({
        client_name: `Client ${n}`,
        message: "Clear dates, a clean wall.",
        is_active: true,
        display_order: n,
      })),
    );
    expect([works.error, insertedReviews.error]).toEqual([null, null]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(server.url);
    for (const section of [strip(page), reviews(page)]) {
      await expect(cards(section)).toHaveCount(12);
      const dots = section
        .locator("div[aria-hidden=true]")
        .filter({ has: page.locator("span.h-2") });
      await expect(dots).toHaveCount(1);
      await expect(dots.locator("> *")).toHaveCount(5);
      await expect(dots.locator("a, button, [tabindex]")).toHaveCount(0);
    }
  } finally {
    await page.close(); // an open page would send requests to the stopped server
    await server.stop();
  }
});

test("S4-carousel-1: arrow keys and dragging move works and reviews", async ({ page, demo }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(demo.url);
  for (const section of [strip(page), reviews(page)]) {
    const first = cards(section).first();
    await first.scrollIntoViewIfNeeded();
    const left = () => first.evaluate((card) => Math.round(card.getBoundingClientRect().left));
    const start = await left();
    await first.getByRole("link").or(first.getByRole("button")).focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(left).toBeLessThan(start - 100);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(left).toBe(start);

    const box = (await section.getByRole("list").boundingBox())!;
    await page.mouse.move(300, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(80, box.y + 60, { steps: 8 });
    await page.mouse.up();
    await expect.poll(left).toBeLessThan(start - 100);
    // A drag is no click: no dialog opens.
    await expect(page.getByRole("dialog")).toHaveCount(0);
  }
});

test("S2-route-2 S2-gallery-3: each filter leads to its own URL and shows only works of its type", async ({
  page,
  demo,
}) => {
  await page.goto(`${demo.url}/gallery`);
  const filters = page.getByRole("navigation", { name: "Filter by type" });
  await expect(filters.getByRole("link")).toHaveText(["All", "Digital", "Mural", "Watercolour"]);
  await expect(filters.getByRole("link", { name: "All" })).toHaveAttribute("aria-current", "page");
  const { data, error } = await asService(demo).from("products").select("artwork_type");
  if (error) throw error;
  for (const { name, type } of [
    { name: "Digital", type: "digital" },
    { name: "Mural", type: "mural" },
    { name: "Watercolour", type: "watercolour" },
  ]) {
    await filters.getByRole("link", { name }).click();
    await expect(page).toHaveURL(`${demo.url}/gallery/${type}`);
    await expect(filters.getByRole("link", { name })).toHaveAttribute("aria-current", "page");
    await expect(page.getByRole("link", { name: /^Open / })).toHaveCount(
      data.filter((work) => work.artwork_type === type).length,
    );
  }
  await page.goto(`${demo.url}/gallery/sculpture`);
  await expect(filters.getByRole("link", { name: "All" })).toHaveAttribute("aria-current", "page");
  await expect(page.getByRole("link", { name: /Romãs/ })).toBeAttached();
});

test("S2-gallery-4: a placeholder is shown in the gallery while the works load", async ({
  page,
  demo,
}) => {
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  await renderInBrowser(page);
  await page.route("**/rest/v1/products*", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${demo.url}/gallery/all`);
  await expect(page.getByText("Loading artworks…")).toBeAttached();
  release();
  await expect(page.getByRole("link", { name: /Romãs/ })).toBeAttached();
  await expect(page.getByText("Loading artworks…")).toHaveCount(0);
});

test("S2-gallery-5 S4-carousel-1: the dialog of a work has a label, shows arrows only for several pictures, and supports keys and dragging", async ({
  page,
  demo,
}) => {
  await page.goto(`${demo.url}/gallery/digital`);
  await page.getByRole("link", { name: /Romãs/ }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("heading", { name: "Romãs" })).toBeVisible();
  await expect(dialog).toContainText(
    "Built up from broad strokes to the last highlight on a seed.",
  );
  await expect(dialog.getByRole("term")).toHaveText([
    "Type",
    "Dimensions",
    "Medium",
    "Creation date",
  ]);
  await expect(dialog.getByRole("definition").first()).toHaveText("Digital Painting");
  const position = dialog.getByText(/^\d \/ 2$/);
  await expect(position).toHaveText("1 / 2");
  await dialog.getByRole("button", { name: "Next" }).click();
  await expect(position).toHaveText("2 / 2");
  await page.keyboard.press("ArrowLeft");
  await expect(position).toHaveText("1 / 2");
  // Wait until the carousel rests, because the position of a moving slide changes.
  const slide = dialog.getByRole("group", { name: "1 of 2" });
  await expect
    .poll(
      () =>
        slide.evaluate((one) => {
          const frame = one.parentElement!.parentElement!;
          return Math.round(one.getBoundingClientRect().left - frame.getBoundingClientRect().left);
        }),
      "how far the picture is from its place",
    )
    .toBe(0);
  const box = (await slide.boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.9, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.1, box.y + box.height / 2, { steps: 8 });
  await page.mouse.up();
  await expect(position).toHaveText("2 / 2");

  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await page.getByRole("link", { name: "Mural", exact: true }).last().click();
  await page.getByRole("link", { name: /Sol de inverno/ }).click();
  await expect(dialog.getByRole("heading", { name: "Sol de inverno" })).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Next" })).toHaveCount(0);
  await expect(dialog.getByText(/^\d \/ \d$/)).toHaveCount(0);
});

test("S2-gallery-2: a work without a picture has a placeholder", async ({ page }) => {
  const server = await startServer("sqlite");
  try {
    const { error } = await asService(server)
      .from("products")
      .insert({ title: "Sem imagem", artwork_type: "mural" });
    expect(error).toBeNull();
    await page.goto(`${server.url}/gallery/all`);
    const card = page.getByRole("link", { name: /Sem imagem/ });
    await expect(card.getByRole("img", { name: "No image available" })).toBeVisible();
    await expect(card.getByText("Mural")).toBeVisible();
  } finally {
    await page.close(); // an open page would send requests to the stopped server
    await server.stop();
  }
});

test("S2-home-5: the about section has the portrait and two paragraphs", async ({ page, demo }) => {
  await page.goto(demo.url);
  const about = page.locator("#about");
  await expect(about.getByRole("img")).toHaveCount(1);
  await expect(about.getByRole("heading")).toHaveCount(1);
  await expect(about.getByRole("paragraph")).toHaveCount(2);
});
