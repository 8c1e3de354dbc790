// The admin pages of reviews and covers.
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { root } from "../harness/root.ts";
import { type Server, startServer } from "../harness/server.ts";
import { noonZone, signInAt, withTwoOwners } from "./admin.ts";
import {
  expect,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  finishAnimations,
  test,
} from "./fixtures.ts";
import { inLanguage, languages, repetition, text } from "./texts.ts";

const film = join(root, "internal/demo/content/noite-no-cais.mp4");

let server: Server;

// The browser's console messages for requests that a test aborts.
test.use({
  timezoneId: noonZone,
  allowedConsole: [/ERR_FAILED .*\/rest\/v1\/(rpc\/reorder_reviews|reviews|cover_images)/],
});
test.beforeAll(async ({ demoFolder }) => {
  server = await startServer("sqlite", { demo: demoFolder });
});
test.afterAll(() => server.stop());

const names = async (page: Page) =>
  (await page.getByRole("button", { name: /^Reorder / }).all()).reduce<Promise<string[]>>(
    async (list, grip) => [
      ...(await list),
      (await grip.getAttribute("aria-label"))!.replace("Reorder ", ""),
    ],
    Promise.resolve([]),
  );

const stored = async () =>
  (
    await asService(server)
      .from("reviews")
      .select("client_name, display_order")
      .order("display_order")
  ).data!;

const row = (page: Page, name: string) =>
  page.getByRole("listitem").filter({ has: page.getByRole("button", { name: `Reorder ${name}` }) });

test("A-rev-3 A-rev-7: reviews are moved by dragging, by keyboard and by buttons, each with one request, and numbered from 1", async ({
  page,
}) => {
  await page.setViewportSize({ width: 1280, height: 1600 }); // no row is near an edge, where dragging would scroll
  await signInAt(page, server, "/admin/reviews");
  await expect(page.getByRole("button", { name: /^Reorder / }).first()).toBeVisible();
  const orders: string[] = [];
  page.on("request", (request) => {
    // The count of unread messages uses HEAD.
    if (!["GET", "HEAD"].includes(request.method()) && request.url().includes("/rest/v1/"))
      orders.push(request.url());
  });
  const [a, b, c, ...rest] = await names(page);
  const announcement = page.locator("[id^=DndLiveRegion]"); // the text for screen readers
  const place = (n: number) => text("en", "reviews.moved", { name: a!, n, total: 3 + rest.length });

  // Drag the first review below the third.
  const from = (await page.getByRole("button", { name: `Reorder ${a}` }).boundingBox())!;
  const to = (await page.getByRole("button", { name: `Reorder ${c}` }).boundingBox())!;
  await page.mouse.move(from.x + 20, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(from.x + 20, from.y + 40, { steps: 4 });
  await page.mouse.move(to.x + 20, to.y + 24, { steps: 8 });
  await expect(announcement).toHaveText(place(3)); // a busy page follows the pointer with a delay
  await page.mouse.up();
  await expect.poll(() => names(page)).toEqual([b, c, a, ...rest]);
  await expect(page.getByText("Review order updated successfully").first()).toBeVisible();
  expect(await stored()).toEqual(
    [b, c, a, ...rest].map((client_name, n) => ({ client_name, display_order: n + 1 })),
  );

  // Keyboard: pick up, move up twice, drop.
  const handle = page.getByRole("button", { name: `Reorder ${a}` });
  await handle.focus();
  await page.keyboard.press("Space");
  await expect(handle).toHaveAttribute("aria-pressed", "true"); // picked up: from now on arrow keys move it
  await expect(announcement).toHaveText(place(3));
  await page.keyboard.press("ArrowUp");
  await expect(announcement).toHaveText(place(2));
  await page.keyboard.press("ArrowUp");
  await expect(announcement).toHaveText(place(1));
  await page.keyboard.press("Space");
  await expect.poll(() => names(page)).toEqual([a, b, c, ...rest]);
  await expect.poll(async () => (await stored())[0]!.client_name).toBe(a);

  // Buttons.
  await row(page, a!).getByRole("button", { name: "Move down" }).click();
  await expect.poll(async () => (await stored())[0]!.client_name).toBe(b);
  await row(page, a!).getByRole("button", { name: "Move up" }).click();
  await expect.poll(async () => (await stored())[0]!.client_name).toBe(a);
  expect(orders).toHaveLength(4);
  expect(orders.every((url) => url.endsWith("/rest/v1/rpc/reorder_reviews"))).toBe(true);
});

test("A-rev-8: an order that cannot be saved returns to the previous one, with an error", async ({
  page,
}) => {
  await signInAt(page, server, "/admin/reviews");
  await expect(page.getByRole("button", { name: /^Reorder / }).first()).toBeVisible();
  const before = await names(page);
  await page.route("**/rpc/reorder_reviews", (route) => route.abort());
  await row(page, before[0]!).getByRole("button", { name: "Move down" }).click();
  await expect(page.getByText("Failed to update review order")).toBeVisible();
  await expect.poll(() => names(page)).toEqual(before);
  expect((await stored()).map(({ client_name }) => client_name)).toEqual(before);
});

test("A-rev-2 A-rev-3: a review is added, edited, hidden from visitors, shown again and deleted", async ({
  page,
}) => {
  await signInAt(page, server, "/admin/reviews");
  await page.getByRole("button", { name: "Add Review" }).click();
  const add = page.getByRole("dialog").getByRole("button", { name: "Add Review" });
  await expect(add).toBeDisabled();
  await page.getByLabel("Client name").fill("Zulmira");
  await page.getByLabel("Message", { exact: true }).fill("Azul para sempre.");
  await page
    .getByRole("dialog")
    .locator("input[type=file]")
    .setInputFiles(join(root, "docs/screenshot.jpg"));
  await expect(add).toBeEnabled();
  await add.click();
  await expect(page.getByText("Review added successfully")).toBeVisible();

  await page.getByRole("button", { name: "Edit review by Zulmira" }).click();
  await page.getByLabel("Message", { exact: true }).fill("Azul para sempre, e branco.");
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("Review updated successfully")).toBeVisible();
  const seen = async () =>
    (await asAnon(server).from("reviews").select("message, image_url").eq("client_name", "Zulmira"))
      .data!;
  expect(await seen()).toEqual([
    {
      message: "Azul para sempre, e branco.",
      image_url: expect.stringMatching(/\/review-images\/[0-9a-f-]{36}\.jpg$/),
    },
  ]);

  await page.reload(); // also closes the toast of the last change
  await page.getByRole("button", { name: "Hide review by Zulmira" }).click();
  await expect(row(page, "Zulmira").getByText("Hidden")).toBeVisible();
  await expect.poll(seen).toEqual([]);
  // The row ignores a change while another one is being saved.
  await expect(page.getByText("Review updated successfully")).toBeVisible();
  await page.getByRole("button", { name: "Show review by Zulmira" }).click();
  await expect.poll(async () => (await seen()).length).toBe(1);

  await page.getByRole("button", { name: "Delete review by Zulmira" }).click();
  await expect(
    page.getByText("Are you sure you want to delete this review? This action cannot be undone."),
  ).toBeVisible();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("Review deleted successfully")).toBeVisible();
  await expect.poll(seen).toEqual([]);
});

test("A-draft-1: an unfinished review and the texts of a cover survive a reload until they are discarded", async ({
  page,
}) => {
  await signInAt(page, server, "/admin/reviews");
  await page.getByRole("button", { name: "Add Review" }).click();
  await page.getByLabel("Client name").fill("Zeferino");
  await page.reload();
  await expect(page.getByLabel("Client name")).toHaveValue("Zeferino");
  await expect(page.getByText(/^Draft of \d\d:\d\d restored/)).toBeVisible();
  await page.getByRole("button", { name: "Discard draft" }).click();
  await expect(page.getByRole("dialog")).toBeHidden();

  await page.goto(`${server.url}/admin/cover-images`);
  const first = page
    .getByRole("listitem")
    .filter({ has: page.getByRole("switch") })
    .first();
  const title = first.getByRole("textbox", { name: "Title", exact: true });
  await expect(title).not.toHaveValue("");
  const before = await title.inputValue();
  await title.fill("Half a title");
  await page.reload();
  await expect(title).toHaveValue("Half a title");
  await first.getByRole("button", { name: "Discard draft" }).click();
  await expect(title).toHaveValue(before);
  await page.reload();
  await expect(title).toHaveValue(before);
});

test("A-prod-15: when two owners edit one review, the second gets a message", async ({
  browser,
}) => {
  await withTwoOwners(browser, server, "/admin/reviews", async (first, second) => {
    for (const page of [first, second])
      await page.getByRole("button", { name: "Edit review by Beatriz" }).click();
    await first.getByLabel("Location").fill("Tavira");
    await first.getByRole("button", { name: "Save changes" }).click();
    await expect(first.getByText("Review updated successfully")).toBeVisible();
    await second.getByLabel("Location").fill("Olhão");
    await second.getByRole("button", { name: "Save changes" }).click();
    const question = second.getByRole("alertdialog");
    await expect(question).toContainText("Tavira");
    await expect(question).toContainText("Olhão");
    const location = async () =>
      (
        await asAnon(server)
          .from("reviews")
          .select("location")
          .like("client_name", "Beatriz%")
          .single()
      ).data!.location;
    expect(await location()).toBe("Tavira");
    await question.getByRole("button", { name: "Save mine anyway" }).click();
    await expect(second.getByText("Review updated successfully")).toBeVisible();
    expect(await location()).toBe("Olhão");
  });
});

test("A-prod-15: a review that was saved, but whose response was lost, is saved again without a conflict", async ({
  page,
}) => {
  await signInAt(page, server, "/admin/reviews");
  await page.getByRole("button", { name: "Edit review by Beatriz" }).click();
  await page.getByLabel("Location").fill("Aljezur");
  await page.route("**/rest/v1/reviews?*", async (route) => {
    if (route.request().method() !== "PATCH") return route.fallback();
    expect((await route.fetch()).status()).toBe(200);
    return route.abort();
  });
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("Failed to update review")).toBeVisible();
  await page.unroute("**/rest/v1/reviews?*");
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("Review updated successfully")).toBeVisible();
  await expect(page.getByRole("alertdialog")).toHaveCount(0);
});

const card = (page: Page, title: string) =>
  page
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: title, exact: true }) });

test("A-cov-1 A-cov-6: a video becomes the last cover: it is active, previewed, changed, switched off, and deleted with its file", async ({
  page,
}) => {
  await signInAt(page, server, "/admin/cover-images");
  await expect(page.getByRole("switch").first()).toBeVisible();
  const count = await page.getByRole("switch").count();
  await page.locator("input[type=file]").first().setInputFiles(film);
  const added = card(page, "Untitled");
  await expect(added.getByRole("switch", { name: "Active" })).toBeChecked();
  await expect(added.getByLabel("Order", { exact: true })).toHaveValue(String(count + 1));
  const find = async (title: string) =>
    (await asService(server).from("cover_images").select("*").eq("title", title)).data![0];

  await added.getByRole("textbox", { name: "Title", exact: true }).fill("Cais de noite");
  await added.getByRole("button", { name: "Preview" }).click();
  const preview = page.getByRole("dialog", { name: "As visitors see it" });
  await expect(preview.getByText("Cais de noite")).toHaveCount(2);
  await expect(preview.locator("video")).toHaveCount(2);
  await expect
    .poll(() =>
      preview
        .locator("video")
        .first()
        .evaluate((v: HTMLVideoElement) => v.muted),
    )
    .toBe(true);
  await page.keyboard.press("Escape");

  await added.getByLabel("Order", { exact: true }).fill("0");
  await added.getByRole("button", { name: "Save" }).click();
  await expect(added.getByText("Order starts at 1")).toBeVisible();
  await added.getByLabel("Order", { exact: true }).fill("9");
  await added.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Cover image updated successfully")).toBeVisible();
  const named = card(page, "Cais de noite");
  const cover = await find("Cais de noite");
  // A number beyond the last one moves the cover to the end.
  expect(cover).toMatchObject({ media_type: "video", display_order: count + 1, is_active: true });
  await expect(named.getByLabel("Order", { exact: true })).toHaveValue(String(count + 1));
  expect((await fetch(new URL(cover!.image_url, server.url))).status).toBe(200);

  await named.getByRole("switch", { name: "Active" }).click();
  await expect(named.getByRole("switch", { name: "Inactive" })).not.toBeChecked();
  await expect.poll(async () => (await find("Cais de noite"))!.is_active).toBe(false);
  expect(
    (await asAnon(server).from("cover_images").select("id").eq("title", "Cais de noite")).data,
  ).toEqual([]);

  await named.getByRole("button", { name: "Delete" }).click();
  await expect(
    page.getByText(
      "Are you sure you want to delete this cover image? This action cannot be undone.",
    ),
  ).toBeVisible();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("Cover image deleted successfully")).toBeVisible();
  const file = new URL(cover!.image_url, server.url);
  const gone = await fetch(file);
  expect([gone.status, await gone.json()]).toMatchObject([400, { statusCode: "404" }]);
  const rendition = new URL(file.pathname.replace("/object/", "/render/image/"), file);
  expect((await fetch(`${rendition.href}?width=640`)).status).toBe(404);
});

test("A-cov-8: a cover that cannot be saved keeps its texts and shows the reason", async ({
  page,
}) => {
  await signInAt(page, server, "/admin/cover-images");
  const first = page
    .getByRole("listitem")
    .filter({ has: page.getByRole("switch") })
    .first();
  await first.getByLabel("Description", { exact: true }).fill("Not stored");
  await page.route("**/rest/v1/cover_images?*", (route) =>
    route.request().method() === "PATCH" ? route.abort() : route.continue(),
  );
  await first.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Error", { exact: true })).toBeVisible();
  await expect(first.getByLabel("Description", { exact: true })).toHaveValue("Not stored");
});

test("A-prod-15: when two owners edit one cover, the second gets a message; switching it on or off is no conflict", async ({
  browser,
}) => {
  await withTwoOwners(browser, server, "/admin/cover-images", async (first, second) => {
    const of = (page: Page) =>
      page
        .getByRole("listitem")
        .filter({ has: page.getByRole("switch") })
        .first();
    await of(second).getByRole("textbox", { name: "Title", exact: true }).fill("Mine");
    await of(first).getByRole("switch").click();
    await expect(first.getByText("Cover image updated successfully")).toBeVisible();
    await of(second).getByRole("button", { name: "Save" }).click();
    await expect(second.getByText("Cover image updated successfully")).toBeVisible();

    await first.reload();
    await expect(of(first).getByRole("textbox", { name: "Title", exact: true })).toHaveValue(
      "Mine",
    );
    const order = async () =>
      (await asAnon(server).from("cover_images").select("id").order("display_order")).data!;
    const before = await order();
    await of(second).getByRole("textbox", { name: "Title", exact: true }).fill("Second's");
    await of(second).getByRole("spinbutton").fill("2");
    await of(first).getByRole("textbox", { name: "Title", exact: true }).fill("First's");
    await of(first).getByRole("button", { name: "Save" }).click();
    await expect(first.getByText("Cover image updated successfully")).toBeVisible();
    await of(second).getByRole("button", { name: "Save" }).click();
    const question = second.getByRole("alertdialog");
    await expect(question).toContainText("First's");
    expect(await order()).toEqual(before); // nothing was saved, not even the other number
    await question.getByRole("button", { name: "Use the newer version" }).click();
    await expect(of(second).getByRole("textbox", { name: "Title", exact: true })).toHaveValue(
      "First's",
    );
  });
});

test("A-dash-1: the dashboard links to the pages and counts unread messages", async ({ page }) => {
  const sent = await asAnon(server).functions.invoke("submit-contact", {
    body: { name: "Rui", email: "rui@example.com", message: "Do you ship to Norway?" },
  });
  expect(sent.error).toBeNull();
  await signInAt(page, server, "/admin");
  const { count } = await asService(server)
    .from("contact_submissions")
    .select("id", { count: "exact", head: true })
    .eq("status", "new");
  await expect(page.getByRole("link", { name: /Contact Messages/ })).toContainText(
    `${count} unread`,
  );
  for (const [name, path] of [
    [/Products$/, "/admin/products"],
    [/Cover Images$/, "/admin/cover-images"],
    [/Reviews$/, "/admin/reviews"],
    [/Contact Messages$/, "/admin/contact-messages"],
  ] as const) {
    await page.goto(`${server.url}/admin`);
    await page
      .getByRole("main")
      .getByRole("link", { name: new RegExp(`\\d.*${name.source}`) })
      .click();
    await expect(page).toHaveURL(new RegExp(`${path}$`));
  }
});

for (const language of languages) {
  test(`A-rev-11: axe at 390 px: editing a review, a hidden review and a cover's preview, in ${repetition(language)}`, async ({
    page,
  }) => {
    await signInAt(page, server, "/admin", language);
    await page.goto(server.url + inLanguage(language, "/admin/reviews"));
    await page
      .getByRole("button", { name: new RegExp(text(language, "reviews.hideNamed", { name: "" })) })
      .last()
      .click();
    await expect(
      page.getByText(text(language, "reviews.hidden"), { exact: true }).first(),
    ).toBeVisible();
    await expectAccessibleInBothSchemes(page);
    await page
      .getByRole("button", { name: new RegExp(text(language, "reviews.editNamed", { name: "" })) })
      .first()
      .click();
    await expect(page.getByRole("dialog")).toBeVisible();
    await expectAccessibleInBothSchemes(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await finishAnimations(page);
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBothSchemes(page);
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toBeHidden();
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBothSchemes(page);

    await page.goto(server.url + inLanguage(language, "/admin/cover-images"));
    await page
      .getByRole("button", { name: text(language, "covers.preview") })
      .first()
      .click();
    await expect(page.getByRole("dialog")).toBeVisible();
    await finishAnimations(page);
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBothSchemes(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await expectAccessibleInBothSchemes(page);
  });
}
