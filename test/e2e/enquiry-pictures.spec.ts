// Pictures in a conversation, sent by the visitor and by the owner.
import type { Page } from "@playwright/test";

import { asAnon } from "../harness/clients.ts";
import { signInAt } from "./admin.ts";
import { owner, startWithLinks, visitor } from "./conversations.ts";
import { expect, expectAccessible, expectNoSidewaysScroll, test } from "./fixtures.ts";
import { serverText, text } from "./texts.ts";

/** A PNG of one pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);
const picture = (name: string) => ({ name, mimeType: "image/png", buffer: png });

test.use({
  contextOptions: { reducedMotion: "reduce" },
  allowedConsole: [/status of (400|415) .*\/enquiry\//], // refused pictures
});

async function saveScreenshot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS)
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png`, fullPage: true });
}

for (const { language, scripts, width } of [
  { language: "en", scripts: false, width: 320 },
  { language: "pt", scripts: true, width: 390 },
] as const)
  test(`E-picture-1 E-picture-4 AM-reply-4: visitor and owner send pictures, ${scripts ? "with" : "without"} scripts, in ${language}`, async ({
    browser,
    page: desk,
    demoFolder,
  }) => {
    const server = await startWithLinks({ demo: demoFolder });
    const context = await browser.newContext({
      javaScriptEnabled: scripts,
      viewport: { width, height: 800 },
    });
    try {
      const { data } = await asAnon(server).functions.invoke("submit-contact", {
        body: { ...visitor, message: "Uma parede.", reason: "", language, follow: true },
      });
      const client = await context.newPage();
      await client.goto((data as { enquiry_url: string }).enquiry_url);
      const field = client.getByLabel(serverText(language, "enquiry.pictures.label"), {
        exact: true,
      });
      const send = client.getByRole("button", {
        name: serverText(language, "enquiry.send"),
        exact: true,
      });

      const written = client.getByLabel(serverText(language, "enquiry.reply"), { exact: true });
      await written.fill("A parede.");
      await field.setInputFiles({
        name: "a.png",
        mimeType: "image/png",
        buffer: Buffer.from("no"),
      });
      await send.click();
      await expect(client.getByRole("alert")).toHaveText(
        serverText(language, "enquiry.pictures.type"),
      );
      await expect(written).toHaveValue("A parede.");

      await field.setInputFiles([picture("a.png"), picture("b.png")]);
      await send.click();
      const first = client.getByRole("img", {
        name: serverText(language, "enquiry.pictures.alt", { n: 1, all: 2 }),
      });
      await expect(first).toBeVisible();
      await expect(
        client.getByRole("img", {
          name: serverText(language, "enquiry.pictures.alt", { n: 2, all: 2 }),
        }),
      ).toBeVisible();
      // Pictures load when they come near the window, since a conversation can have a hundred.
      await first.scrollIntoViewIfNeeded();
      await expect.poll(() => first.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(1);
      await expectNoSidewaysScroll(client);
      if (scripts) await expectAccessible(client);
      await saveScreenshot(client, `pictures-link-${width}`);

      await desk.setViewportSize({ width: 1440, height: 900 });
      await signInAt(desk, { ...server, owner }, "/admin/contact-messages", language);
      await desk.getByRole("button", { name: new RegExp(visitor.name) }).click();
      const seen = desk.getByRole("img", {
        name: text(language, "messages.picture", { n: "1", all: "2" }),
      });
      await expect(seen).toBeVisible();
      await expect.poll(() => seen.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(1);
      await desk
        .getByRole("button", { name: text(language, "messages.picture", { n: "1", all: "2" }) })
        .press("Enter");
      await expect(desk.getByRole("dialog")).toBeVisible();
      await desk.keyboard.press("Escape");
      await expect(desk.getByRole("dialog")).toHaveCount(0);

      await desk
        .getByLabel(text(language, "messages.pictures"), { exact: true })
        .setInputFiles(picture("c.png"));
      await desk.getByRole("button", { name: text(language, "messages.sendReply") }).click();
      await expect(
        desk.getByRole("img", {
          name: text(language, "messages.picture", { n: "1", all: "1" }),
        }),
      ).toBeVisible();
      await expectAccessible(desk);
      await saveScreenshot(desk, `pictures-desk-${language}`);
      await client.reload();
      await expect(
        client.getByRole("img", {
          name: serverText(language, "enquiry.pictures.alt", { n: 1, all: 1 }),
        }),
      ).toBeVisible();
      const link = client.getByRole("link", {
        name: serverText(language, "enquiry.pictures.alt", { n: 1, all: 1 }),
      });
      const large = await client.goto(new URL((await link.getAttribute("href"))!, server.url).href);
      expect(large!.headers()["content-type"]).toBe("image/png");
    } finally {
      await desk.goto("about:blank");
      await context.close();
      await server.stop();
    }
  });
