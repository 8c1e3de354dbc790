// How long toasts are shown and where (docs/product.md, Constants), by the page's clock.
import type { Page } from "@playwright/test";

import { startServer } from "../harness/server.ts";
import { expect, pauseClock, test } from "./fixtures.ts";

declare global {
  interface Window {
    shownAt?: number;
  }
}

const toasts = (page: Page) => page.locator("[data-sonner-toast]");
const send = (page: Page) => page.getByRole("button", { name: "Send message" });

async function fillIn(page: Page) {
  await page.getByLabel("Name").fill("Rui");
  await page.getByLabel("Email").fill("rui@example.com");
  await page.getByLabel("Message").fill("Do you ship to Norway?");
}

/** Advances the clock in small steps until the condition is true. */
async function passTimeUntil(page: Page, condition: () => Promise<boolean>, step = 1) {
  await expect
    .poll(async () => {
      await page.clock.runFor(step);
      return condition();
    }, "the toast is there")
    .toBe(true);
}

test("S4-toast-2: a toast closes after 4000 ms", async ({ page, demo }) => {
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (document.querySelector("[data-sonner-toast]")) window.shownAt ??= performance.now();
    }).observe(document, { subtree: true, childList: true });
  });
  await page.clock.install();
  await page.goto(demo.url);
  await fillIn(page);
  await pauseClock(page);
  await send(page).click();
  await passTimeUntil(page, async () => (await toasts(page).count()) === 1);
  await expect(toasts(page)).toContainText("Message sent!");
  const left = await page.evaluate(() => window.shownAt! + 4000 - performance.now());
  await page.clock.runFor(left - 1);
  await expect(toasts(page)).toHaveAttribute("data-removed", "false");
  await page.clock.runFor(1);
  await expect(toasts(page)).toHaveAttribute("data-removed", "true");
  await page.clock.runFor(1000);
  await expect(toasts(page)).toHaveCount(0);
});

test("S4-toast-4: a swipe of more than 20 px closes a toast, a shorter one does not", async ({
  page,
  demo,
}) => {
  await page.clock.install();
  await page.goto(demo.url);
  await fillIn(page);
  await pauseClock(page);
  await send(page).click();
  await passTimeUntil(page, async () => (await toasts(page).count()) === 1);
  await page.clock.runFor(100);
  const swipe = async (distance: number) => {
    await toasts(page).hover(); // waits until the toast rests
    const box = (await toasts(page).boundingBox())!;
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x - distance, y, { steps: 4 });
    // Slowly: a quick movement counts as a swipe whatever its length.
    await page.clock.runFor(300);
    await page.mouse.up();
  };
  await swipe(19);
  await page.clock.runFor(50);
  await expect(toasts(page)).toHaveAttribute("data-removed", "false");
  await swipe(21);
  await expect(toasts(page)).toHaveAttribute("data-swipe-out", "true");
  await page.clock.runFor(500);
  await expect(toasts(page)).toHaveCount(0);
});

test.describe("single toasts", () => {
  test.use({ allowedConsole: [/status of 500 .*submit-contact/] });

  test("S4-toast-1: a single toast replaces the previous one", async ({ page, demo }) => {
    await page.clock.install();
    await page.goto(demo.url);
    await fillIn(page);
    await page.route("**/functions/v1/submit-contact", (route) =>
      route.fulfill({ status: 500, json: { success: false, error: "broken" } }),
    );
    await pauseClock(page);
    await send(page).click();
    await passTimeUntil(page, async () => (await toasts(page).count()) === 1);
    await expect(toasts(page)).toContainText("Failed to send message. Please try again.");
    await expect(toasts(page)).toHaveCount(1);
    await page.unroute("**/functions/v1/submit-contact");
    await send(page).click();
    await passTimeUntil(page, () => page.getByText("Message sent!").isVisible());
    await expect(toasts(page)).toHaveCount(1);
    await expect(toasts(page)).not.toContainText("Failed to send message");
  });
});

test("S4-toast-2: stacked toasts: 3 visible, 356 px wide, 14 px apart", async ({
  page,
  demoFolder,
}) => {
  const server = await startServer("sqlite", { demo: demoFolder });
  try {
    await page.clock.install();
    await page.goto(`${server.url}/admin/cover-images`);
    await page.getByLabel("Email").fill(server.owner!.email);
    await page.getByLabel("Password", { exact: true }).fill(server.owner!.password);
    // Keeps the first toast open: no toast closes under the pointer. The clock is paused until the pointer is there.
    await pauseClock(page);
    await page.getByRole("button", { name: "Sign in" }).click();
    await passTimeUntil(page, () => page.getByText("Welcome back!").isVisible(), 20);
    await page.getByText("Welcome back!").hover();
    await expect(page.locator("[data-sonner-toast]")).toHaveAttribute("data-expanded", "true");
    await page.clock.resume();
    await expect(page.getByRole("switch").first()).toBeVisible();
    await page.getByRole("switch").first().focus();
    for (let n = 1; n <= 3; n++) {
      await page.keyboard.press("Space");
      await expect(page.getByText("Cover image updated successfully")).toHaveCount(n);
    }
    await expect(toasts(page)).toHaveCount(4);
    await expect(page.locator("[data-sonner-toast][data-visible=true]")).toHaveCount(3);
    const boxes = async () => {
      const all = await Promise.all(
        (await page.locator("[data-sonner-toast][data-visible=true]").all()).map((one) =>
          one.boundingBox(),
        ),
      );
      return all.map((box) => box!).sort((a, b) => a.y - b.y);
    };
    await expect
      .poll(async () => {
        const [a, b, c] = await boxes();
        return [b!.y - (a!.y + a!.height), c!.y - (b!.y + b!.height)].map(Math.round);
      })
      .toEqual([14, 14]);
    expect((await boxes()).map(({ width }) => width)).toEqual([356, 356, 356]);
  } finally {
    await page.close(); // an open page would send requests to the stopped server
    await server.stop();
  }
});
