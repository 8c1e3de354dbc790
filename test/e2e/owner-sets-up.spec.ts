// From an empty database to the owner's own site, only in a browser: six works, two covers (one is a video), three
// ordered reviews, texts and a portrait with the guide, and an answered message. No step needs a terminal.
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { root } from "../harness/root.ts";
import { startServer } from "../harness/server.ts";
import {
  expect,
  expectAccessible,
  expectNoSidewaysScroll,
  finishAnimations,
  makeJpeg,
  test,
  waitUntilInteractive,
} from "./fixtures.ts";

const content = join(root, "internal/demo/content");
const picture = (name: string) => join(content, "images", name);
const film = join(content, "noite-no-cais.mp4");

// Small pictures, because the renditions of the demo's pictures would take half a minute for each database.
const works = [
  { title: "Serra", type: "watercolour", width: 600, height: 800 },
  { title: "Limoeiro", type: "watercolour", width: 610, height: 800 },
  { title: "Casa", type: "watercolour", width: 640, height: 800 },
  { title: "Jardim", type: "mural", width: 590, height: 800 },
  { title: "Peixes", type: "mural", width: 800, height: 300 },
  { title: "Costa", type: "digital", width: 800, height: 500 },
];
const reviews = [
  { name: "Ana", message: "The wall is the best part of the house now." },
  { name: "Rui", message: "On time, and better than the sketch." },
  { name: "Marta", message: "We look at it every morning." },
];

// The browser's console message for a rendition that a busy machine has not made yet.
test.use({ allowedConsole: [/status of 503 .*\/render\/image\//] });

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const openTab = async (page: Page, name: string) => {
  await page
    .getByRole("navigation", { name: "Dashboard" })
    .getByRole("link", { name: new RegExp(`^${name}`) })
    .click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
};

/** Completes the guide on a phone. In between, leaves it for the overview, which lists the remaining example texts. */
async function firstSteps(page: Page): Promise<void> {
  const desktop = page.viewportSize()!;
  await page.setViewportSize({ width: 390, height: 844 });
  const step = (n: number) =>
    expect(page.getByRole("heading", { level: 2, name: `Step ${n} of 6` })).toBeVisible();
  const saved = async (next: number) => {
    await button(page, "Save and continue").click();
    await step(next);
  };
  await expect(page).toHaveURL(/\/admin\/guide\?step=name$/);
  await step(1);
  await expect(page.getByLabel("Name of the site")).toHaveValue("Ateliê");
  await finishAnimations(page);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByLabel("Name of the site").fill("Casa da Ana");
  await saved(2);
  await page.locator("input[type=file]").first().setInputFiles(picture("pt-artista.webp"));
  await saved(3);
  await page.getByLabel("Heading", { exact: true }).fill("I paint what the wall allows");
  await page.getByLabel("Heading in Portuguese").fill("Pinto o que a parede deixa");
  await finishAnimations(page);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await saved(4);

  await page.getByRole("navigation", { name: "Dashboard" }).getByText("Overview").click();
  const examples = page.getByRole("region", { name: "Not in your own words yet" });
  await expect(examples.getByRole("listitem")).toHaveText([
    /Texts about you/,
    /Line above the works.*Trusted by 500\+ clients/,
  ]);
  await finishAnimations(page);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await examples.getByRole("link", { name: /^Line above the works/ }).click();
  await page.getByLabel("Line above the works", { exact: true }).fill("Forty walls so far");
  await saved(5);
  await page.getByLabel("Instagram").fill("@casa.da.ana");
  await saved(6);
  await expect(page.getByText("No works in the gallery yet.")).toBeVisible();
  await expect(page.getByText("Still an example:")).toContainText("Texts about you");
  await finishAnimations(page);
  await expectAccessible(page);
  await button(page, "Finish").click();
  await expect(page).toHaveURL(/\/admin$/);
  await expect(page.getByText("The guide is finished")).toBeVisible();
  await expect(page.getByText("Before the first visitors")).toBeVisible();
  await expect(examples).toHaveCount(0);
  await page.setViewportSize(desktop);
}

// owner.spec.ts uses the site on PostgreSQL too.
test("A-set-up A-dash-5: the owner sets up a whole site in the browser", async ({
  page,
  browser,
}) => {
  const server = await startServer("sqlite");
  try {
    // The set-up link that the operator has sent.
    await page.goto(server.setupLink!);
    await page.getByLabel("Email").fill("ana@example.com");
    await page.getByLabel("New password").fill("a wall of whitewash");
    await button(page, "Save and sign in").click();
    await firstSteps(page);

    await openTab(page, "Products");
    for (const { title, type, width, height } of works) {
      await page.getByRole("button", { name: "Add Product" }).first().click();
      const form = page.getByRole("dialog", { name: "Add Product" });
      await form.getByLabel("Title", { exact: true }).fill(title);
      await form.getByLabel("Artwork type").selectOption(type);
      await form
        .locator("input[type=file]")
        .first()
        .setInputFiles({
          name: `${title}.jpg`,
          mimeType: "image/jpeg",
          buffer: await makeJpeg(page, { width, height, quality: 0.9 }),
        });
      await form.getByRole("switch", { name: "Featured on the home page" }).click();
      const save = form.getByRole("button", { name: "Save", exact: true });
      await expect(form.getByRole("button", { name: "Replace" })).toBeVisible();
      await expect(save).toBeEnabled();
      await save.click();
      await expect(form).toHaveCount(0);
      await expect(page.getByText(title, { exact: true }).first()).toBeVisible();
    }

    await openTab(page, "Cover Images");
    for (const [index, file] of [picture("mu-sol.jpg"), film].entries()) {
      await page.locator("input[type=file]").first().setInputFiles(file);
      await expect(page.getByLabel("Title", { exact: true })).toHaveCount(index + 1);
      const title = page.getByLabel("Title", { exact: true }).nth(index);
      await title.fill(index === 0 ? "Sol de inverno" : "Noite no cais");
      await button(page, "Save").nth(index).click();
      await expect(page.getByText("Cover image updated successfully").last()).toBeVisible();
    }

    await openTab(page, "Reviews");
    for (const { name, message } of reviews) {
      await page.getByRole("button", { name: "Add Review" }).first().click();
      const form = page.getByRole("dialog");
      await form.getByLabel("Client name").fill(name);
      await form.getByLabel("Message", { exact: true }).fill(message);
      await form.getByRole("button", { name: "Add Review" }).click();
      await expect(form).toHaveCount(0);
      await expect(page.getByText(message)).toBeVisible();
    }
    // Marta, Ana, Rui.
    const marta = page.getByRole("listitem").filter({ hasText: "Marta" });
    for (const place of [2, 1]) {
      const ordered = page.waitForResponse(/\/rpc\/reorder_reviews$/);
      await marta.getByRole("button", { name: "Move up" }).click();
      await expect(page.getByText(`Marta: position ${place} of 3`)).toBeAttached();
      expect((await ordered).ok()).toBe(true); // the toast may be that of the move before
      await expect(page.getByText("Review order updated successfully").first()).toBeVisible();
    }

    // A visitor looks at the site and writes. Renditions that are still to be made would occupy the browser's connections.
    await server.command(["media", "rebuild"]);
    const visitor = await (await browser.newContext({ reducedMotion: "reduce" })).newPage();
    await visitor.goto(server.url);
    await waitUntilInteractive(visitor); // until then the browser itself sends the form, and leaves the page
    await expect(visitor).toHaveTitle("Casa da Ana");
    await expect(visitor.locator("[data-hero]").getByText("Sol de inverno")).toBeVisible();
    await expect(visitor.getByRole("heading", { name: "Forty walls so far" })).toBeVisible();
    await expect(
      visitor.getByRole("heading", { name: "I paint what the wall allows" }),
    ).toBeVisible();
    await expect(visitor.getByRole("img", { name: "Portrait of the artist" })).toBeAttached();
    const cards = visitor.locator("#testimonials").getByRole("button", { name: /Read in full/ });
    await expect(cards).toHaveText([/Marta/, /Ana/, /Rui/]);
    const form = visitor.locator("#contact form");
    await form.getByLabel("Name").fill("Inês");
    await form.getByLabel("Email").fill("ines@example.com");
    await form.getByLabel("Message").fill("Would you paint a wall of 6 × 3 metres?");
    await form.getByRole("button", { name: "Send message" }).click();
    await expect(visitor.getByText("Message Sent Successfully!")).toBeVisible();
    await visitor.goto(`${server.url}/gallery/all`);
    for (const { title } of works)
      await expect(visitor.getByRole("link", { name: new RegExp(`^Open ${title}`) })).toBeVisible();
    await visitor.context().close();

    await openTab(page, "Messages");
    await page.getByRole("button", { name: /Inês/ }).click();
    const answer = page.getByRole("link", { name: "Reply" });
    await expect(answer).toHaveAttribute("href", /^mailto:ines@example\.com/);
    // Do not open the mail program.
    await page.evaluate(() =>
      document.addEventListener("click", (event) => event.preventDefault(), { once: true }),
    );
    await answer.click();
    await expect(page.getByText("Replied").filter({ visible: true }).first()).toBeVisible();
    // An open page would send requests to the stopped server.
    await page.close();
  } finally {
    await page.close(); // an open page would send requests to the stopped server
    await server.stop();
  }
});
