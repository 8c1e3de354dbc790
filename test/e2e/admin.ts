// Helpers of the admin tests: signing in, two browsers, timing.
import type { Browser, BrowserContext, Page } from "@playwright/test";

import type { Server } from "../harness/server.ts";
import { expect } from "./fixtures.ts";
import { inLanguage, type Language, text } from "./texts.ts";

type Site = Pick<Server, "url" | "anonKey" | "owner">;

const pastNoon = new Date().getUTCHours() - 12;

/**
 * A time zone in which it is noon now. No midnight passes there during the tests: on the next day, the notice about a
 * draft would have a date. The clocks of the zone Etc/GMT+5 are five hours behind UTC.
 */
export const noonZone = `Etc/GMT${pastNoon < 0 ? "-" : "+"}${Math.abs(pastNoon)}`;

/** Opens an admin page with a stored session. Signs in through the API if this browser has no session. */
export async function signInAt(
  page: Page,
  site: Site,
  path: string,
  language: Language = "en",
): Promise<void> {
  await page.goto(`${site.url}/health/live`); // the site's origin, without its scripts
  const refused = await page.evaluate(
    async ({ key, anonKey, owner }) => {
      if (localStorage.getItem(key)) return "";
      const response = await fetch("/auth/v1/token?grant_type=password", {
        method: "POST",
        headers: { apikey: anonKey, "content-type": "application/json" },
        body: JSON.stringify(owner),
      });
      const session = await response.text();
      if (!response.ok) return session;
      localStorage.setItem(key, session);
      return "";
    },
    {
      key: `sb-${new URL(site.url).hostname.split(".")[0]}-auth-token`,
      anonKey: site.anonKey,
      owner: site.owner!,
    },
  );
  expect(refused).toBe("");
  await page.goto(site.url + inLanguage(language, path));
  await expect(page).toHaveURL((at) => at.pathname === path.split("?")[0]);
}

/** Fills in the sign-in form that is shown. */
export async function fillSignIn(
  page: Page,
  { owner }: Site,
  language: Language = "en",
): Promise<void> {
  await page.getByLabel(text(language, "auth.email")).fill(owner!.email);
  await page.getByLabel(text(language, "auth.password"), { exact: true }).fill(owner!.password);
  await page.getByRole("button", { name: text(language, "auth.submit"), exact: true }).click();
}

/** Calls `act` with two separate browser contexts, both signed in and at the same page. */
export async function withTwoOwners(
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

/**
 * Returns the CPU time of the page's thread in milliseconds while `act` runs. Unlike the time that passes, it hardly depends on
 * other programs of the machine.
 */
export async function cpuTime(page: Page, act: () => Promise<unknown>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const used = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")!.value * 1000;
  };
  const before = await used();
  await act();
  const after = await used();
  await session.detach();
  return after - before;
}

/**
 * Scrolls to the end and back, a quarter of a screen per frame. Returns the CPU time of the page's thread in
 * milliseconds per frame.
 */
export async function cpuTimePerFrame(page: Page): Promise<number> {
  let frames = 0;
  const used = await cpuTime(page, async () => {
    frames = await page.evaluate(async () => {
      let count = 0;
      for (const way of [1, -1])
        for (
          let at = 0;
          at < document.documentElement.scrollHeight;
          at += innerHeight / 4, count++
        ) {
          scrollBy({ top: (way * innerHeight) / 4, behavior: "instant" });
          await new Promise((done) => requestAnimationFrame(done));
        }
      return count;
    });
  });
  return used / frames;
}
