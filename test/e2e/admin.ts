// What the tests of the owner's pages share: signing in, and a second person with a browser of their own.
import type { Browser, BrowserContext, Page } from "@playwright/test";

import type { Server } from "../harness/server.ts";
import { expect, expectAccessible, settled } from "./fixtures.ts";
import { inLanguage, type Language, text } from "./texts.ts";

/** Opens an admin address by way of the sign-in page, as a deep link does. */
export async function signInAt(
  page: Page,
  server: Server,
  path: string,
  language: Language = "en",
): Promise<void> {
  await page.goto(server.url + inLanguage(language, path));
  await fillSignIn(page, server, language);
  await expect(page).toHaveURL((url) => url.pathname === path.split("?")[0]);
}

/** Fills in the sign-in form that is shown. */
export async function fillSignIn(
  page: Page,
  server: Server,
  language: Language = "en",
): Promise<void> {
  await page.getByLabel(text(language, "auth.email")).fill(server.owner!.email);
  await page
    .getByLabel(text(language, "auth.password"), { exact: true })
    .fill(server.owner!.password);
  await page.getByRole("button", { name: text(language, "auth.submit"), exact: true }).click();
}

/** Lets act with two browsers that know nothing of each other, both signed in at the same address. */
export async function asTwoOwners(
  browser: Browser,
  server: Server,
  path: string,
  act: (first: Page, second: Page) => Promise<void>,
): Promise<void> {
  const contexts: BrowserContext[] = [];
  const problems: string[] = [];
  try {
    const pages: Page[] = [];
    for (let n = 0; n < 2; n++) {
      const context = await browser.newContext();
      contexts.push(context);
      context.on("weberror", (error) => problems.push(error.error().message));
      const page = await context.newPage();
      pages.push(page);
      await signInAt(page, server, path);
    }
    await act(pages[0]!, pages[1]!);
    expect(problems).toEqual([]);
  } finally {
    for (const context of contexts) await context.close();
  }
}

export async function expectAccessibleInBothSchemes(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await settled(page);
    await expectAccessible(page);
  }
}

/**
 * Scrolls the page to its end and back, a quarter of a screen a frame; gives the milliseconds of processor time that the page's
 * thread needs for one. Other programs on the machine do not count.
 */
export async function workPerFrame(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const used = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")!.value * 1000;
  };
  const before = await used();
  const frames = await page.evaluate(async () => {
    let count = 0;
    for (const way of [1, -1])
      for (let at = 0; at < document.documentElement.scrollHeight; at += innerHeight / 4, count++) {
        scrollBy({ top: (way * innerHeight) / 4, behavior: "instant" });
        await new Promise((done) => requestAnimationFrame(done));
      }
    return count;
  });
  const after = await used();
  await session.detach();
  return (after - before) / frames;
}
