// From an empty database to a site that is the owner's own, in a browser alone: six works, two covers (one of them a
// film), three reviews in order, texts and a portrait, and a message that is answered. No step needs a terminal.
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { stopPostgres } from "../harness/postgres.ts";
import { root } from "../harness/root.ts";
import { engines, startServer } from "../harness/server.ts";
import { expect, test } from "./fixtures.ts";

const content = join(root, "internal/demo/content");
const picture = (name: string) => join(content, "images", name);
const film = join(content, "noite-no-cais.mp4");

const works = [
  { title: "Serra", type: "watercolour", file: "wc-serra.webp" },
  { title: "Limoeiro", type: "watercolour", file: "wc-limoeiro.webp" },
  { title: "Casa", type: "watercolour", file: "wc-casa.webp" },
  { title: "Jardim", type: "mural", file: "mu-jardim.jpg" },
  { title: "Peixes", type: "mural", file: "mu-peixes.webp" },
  { title: "Costa", type: "digital", file: "pt-costa.webp" },
];
const reviews = [
  { name: "Ana", message: "The wall is the best part of the house now." },
  { name: "Rui", message: "On time, and better than the sketch." },
  { name: "Marta", message: "We look at it every morning." },
];

// The browser itself notes a picture that a busy machine has not cut yet.
test.use({ allowedConsole: [/status of 503 .*\/render\/image\//] });

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const openTab = async (page: Page, name: string) => {
  await page
    .getByRole("navigation", { name: "Dashboard" })
    .getByRole("link", { name: new RegExp(`^${name}`) })
    .click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
};

for (const engine of engines) {
  test(`the owner sets up a whole site in the browser (${engine})`, async ({ page, browser }) => {
    test.setTimeout(180_000);
    const server = await startServer(engine);
    try {
      // The link that whoever hosts the site has sent.
      await page.goto(server.setupLink!);
      await page.getByLabel("Email").fill("ana@example.com");
      await page.getByLabel("New password").fill("a wall of whitewash");
      await button(page, "Save and sign in").click();
      await expect(page).toHaveURL(/\/admin$/);

      await openTab(page, "Products");
      for (const { title, type, file } of works) {
        await page.getByRole("button", { name: "Add Product" }).first().click();
        const form = page.getByRole("dialog", { name: "Add Product" });
        await form.getByLabel("Title", { exact: true }).fill(title);
        await form.getByLabel("Artwork type").selectOption(type);
        await form.locator("input[type=file]").first().setInputFiles(picture(file));
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
        await form.getByLabel("Message").fill(message);
        await form.getByRole("button", { name: "Add Review" }).click();
        await expect(form).toHaveCount(0);
        await expect(page.getByText(message)).toBeVisible();
      }
      // Marta, Ana, Rui.
      const marta = page.getByRole("listitem").filter({ hasText: "Marta" });
      for (const place of [2, 1]) {
        await marta.getByRole("button", { name: "Move up" }).click();
        await expect(page.getByText(`Marta: position ${place} of 3`)).toBeAttached();
        await expect(page.getByText("Review order updated successfully").first()).toBeVisible();
      }

      await openTab(page, "Settings");
      await page.getByLabel("Name of the site").fill("Casa da Ana");
      await page.locator("input[type=file]").first().setInputFiles(picture("pt-artista.jpg"));
      await page.getByLabel("Heading, English").fill("I paint what the wall allows");
      await page.getByLabel("Heading, Portuguese").fill("Pinto o que a parede deixa");
      await page.getByLabel("Line above the works, English").fill("Forty walls so far");
      await page.getByLabel("Instagram").fill("@casa.da.ana");
      await expect(button(page, "Save changes")).toBeEnabled();
      await button(page, "Save changes").click();
      await expect(page.getByText("Settings saved")).toBeVisible();

      // What a visitor finds, and writes. Pictures that are still to be cut would hold the browser's connections.
      await server.command(["media", "rebuild"]);
      const visitor = await (await browser.newContext({ reducedMotion: "reduce" })).newPage();
      await visitor.goto(server.url);
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
        await expect(
          visitor.getByRole("link", { name: new RegExp(`^Open ${title}`) }),
        ).toBeVisible();
      await visitor.context().close();

      await openTab(page, "Messages");
      await page.getByRole("button", { name: /Inês/ }).click();
      const answer = page.getByRole("link", { name: "Reply" });
      await expect(answer).toHaveAttribute("href", /^mailto:ines@example\.com/);
      // The mail program itself is not this test's.
      await page.evaluate(() =>
        document.addEventListener("click", (event) => event.preventDefault(), { once: true }),
      );
      await answer.click();
      await expect(page.getByText("Replied").filter({ visible: true }).first()).toBeVisible();
      // A page that is still open would ask a server that has gone.
      await page.close();
    } finally {
      await page.close(); // it would miss the server
      await server.stop();
    }
  });
}

test.afterAll(stopPostgres);
