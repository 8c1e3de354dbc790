// The owner's first steps on the real binary, on both databases: set-up link, sign-in, a work with a picture and a
// video, and a visitor's message.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { asAnon } from "../harness/clients.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { root } from "../harness/root.ts";
import { engines, startServer } from "../harness/server.ts";
import {
  expect,
  expectAccessible,
  finishAnimations,
  makeJpeg,
  recordToasts,
  test,
} from "./fixtures.ts";

const film = join(root, "internal/demo/content/noite-no-cais.mp4");

// The browser's console messages for the refused sign-in, and for a rendition that a busy machine has not made yet.
test.use({ allowedConsole: [/status of (400 .*\/auth\/v1\/token|503 .*\/render\/image\/)/] });

for (const engine of engines) {
  // The contract tests run on both databases, so the repetition on PostgreSQL is for make soak.
  const repetition = engine === "postgres" ? "postgres @soak" : engine;
  test(`A-log-setup A-log-in AM-delete-1 S8-login-1: the owner sets the site up, adds a work and reads a message (${repetition})`, async ({
    page,
  }, testInfo) => {
    const server = await startServer(engine);
    try {
      // First start: the owner opens the set-up link that the program has printed.
      await page.goto(server.setupLink!);
      await expect(page).toHaveURL(/\/admin\/auth/);
      await page.getByLabel("Email").fill("ana@example.com");
      await page.getByLabel("New password").fill("a wall of whitewash");
      await finishAnimations(page); // a toast that fades has less contrast
      await expectAccessible(page);
      await page.getByRole("button", { name: "Save and sign in" }).click();
      await expect(page).toHaveURL(/\/admin\/guide/);
      await expect(page.getByRole("heading", { level: 1, name: "First steps" })).toBeVisible();
      const toasts = await recordToasts(page);
      await page.getByRole("button", { name: "Sign Out" }).click();
      await expect.poll(toasts).toContain("Signed out successfully");
      await expect(page).toHaveURL(new RegExp(`^${server.url}/$`));

      // Signs in through a deep link, which must be kept.
      await page.goto(`${server.url}/admin/products`);
      await expect(page).toHaveURL(/\/admin\/auth/);
      await page.getByLabel("Email").fill("ana@example.com");
      await page.getByLabel("Password", { exact: true }).fill("not my password");
      await page.getByRole("button", { name: "Sign in" }).click();
      await expect(page.getByRole("alert")).toContainText("Invalid login credentials");
      await page.getByLabel("Password", { exact: true }).fill("a wall of whitewash");
      await page.getByRole("button", { name: "Sign in" }).click();
      await expect(page.getByText("Welcome back!")).toBeVisible();
      await expect(page).toHaveURL(/\/admin\/products$/);

      // Adds a real picture and a real video through the form.
      const picture = testInfo.outputPath("sky.JPG");
      const size = { width: 2736, height: 1824, quality: 0.95 };
      await writeFile(picture, await makeJpeg(page, size));
      await page.getByRole("button", { name: "Add Product" }).first().click();
      const form = page.getByRole("dialog");
      await form.getByLabel("Title", { exact: true }).fill("Céu de março");
      await form.getByLabel("Artwork type").selectOption("mural");
      await form.getByLabel("Dimensions", { exact: true }).fill("6 × 4 m");
      await form.getByLabel("Medium", { exact: true }).fill("Acrylic on plaster");
      await form.getByLabel("Tags").fill("sky, march ,  blue");
      await form.locator("input[type=file]").nth(0).setInputFiles(picture);
      await form.locator("input[type=file][accept*=video]").setInputFiles(film);
      await finishAnimations(page); // a toast that fades has less contrast
      await expectAccessible(page);
      await expect(form.getByRole("button", { name: "Save", exact: true })).toBeEnabled();
      await form.getByRole("button", { name: "Save", exact: true }).click();
      await expect(page.getByText("Product created")).toBeVisible();

      const { data: work } = await asAnon(server).from("products").select("*").single();
      expect(work).toMatchObject({
        title: "Céu de março",
        artwork_type: "mural",
        tags: ["sky", "march", "blue"],
        price: 0,
        in_stock: true,
      });
      expect(work.image_url).toMatch(/\/product-images\/[0-9a-f-]{36}\.jpe?g$/);
      expect(work.video_gallery).toHaveLength(1);
      const served = await fetch(new URL(work.image_url, server.url));
      expect(Buffer.from(await served.arrayBuffer()).equals(await readFile(picture))).toBe(true);

      // The work is in the gallery when its renditions exist. On a busy machine that may take longer than a browser
      // waits.
      await server.command(["media", "rebuild"]);
      await page.goto(`${server.url}/gallery/mural`);
      await page.getByRole("link", { name: /Céu de março/ }).click();
      await expect(page.getByRole("dialog").getByText("6 × 4 m")).toBeVisible();
      const shown = page.getByRole("dialog").getByRole("img").first();
      // A rendition of it.
      await expect(shown).toHaveAttribute("width", String(size.width));
      await expect
        .poll(() => shown.evaluate((img: HTMLImageElement) => img.naturalWidth))
        .toBeGreaterThan(0);

      // A visitor writes, and the owner reads and deletes the message.
      const sent = await asAnon(server).functions.invoke("submit-contact", {
        body: {
          name: "Rui",
          email: "rui@example.com",
          message: "Do you ship watercolours to Norway?",
          reason: "",
        },
      });
      expect(sent.error).toBeNull();
      await page.goto(`${server.url}/admin`);
      await page.getByRole("link", { name: /Contact Messages/ }).click();
      await page.getByRole("button", { name: /Rui/ }).click();
      await expect(page.getByText("Do you ship watercolours to Norway?").last()).toBeVisible();
      await finishAnimations(page); // a toast that fades has less contrast
      await expectAccessible(page);
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      await expect(
        page.getByText(
          "Are you sure you want to delete this message? This action cannot be undone.",
        ),
      ).toBeVisible();
      await page
        .getByRole("alertdialog")
        .getByRole("button", { name: "Delete", exact: true })
        .click();
      await expect(page.getByText("Message deleted")).toBeVisible();
      await expect(page.getByText("No messages yet.")).toBeVisible();

      // The work is deleted; the server collects its files later (tested in internal/app).
      await page.getByRole("link", { name: "Products" }).first().click();
      await page
        .getByRole("button", { name: /Delete.*Céu de março|Delete/ })
        .first()
        .click();
      await expect(
        page.getByText(
          "Are you sure you want to delete this product? This action cannot be undone.",
        ),
      ).toBeVisible();
      await page
        .getByRole("alertdialog")
        .getByRole("button", { name: "Delete", exact: true })
        .click();
      await expect(page.getByText("Product deleted")).toBeVisible();
      expect((await asAnon(server).from("products").select("id")).data).toEqual([]);

      const laterToasts = await recordToasts(page);
      await page.getByRole("button", { name: "Sign Out" }).click();
      await expect.poll(laterToasts).toContain("Signed out successfully");
      await page.goto(`${server.url}/admin`);
      await expect(page).toHaveURL(/\/admin\/auth/);
    } finally {
      await page.close(); // an open page would send requests to the stopped server
      await server.stop();
    }
  });
}

test.afterAll(stopPostgres);
