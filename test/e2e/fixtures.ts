// Browser tests run the real binary and fail on any console error or unhandled rejection.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { expect, type Locator, type Page, test as base } from "@playwright/test";
import type { AxeResults, RunOptions } from "axe-core";

import { makeDemoFolder } from "../harness/demo-folder.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { type Server, startServer } from "../harness/server.ts";

type Fixtures = {
  /** Console messages that a test expects, such as the browser's message for a 404 document. */
  allowedConsole: RegExp[];
  failOnConsole: void;
};

type WorkerFixtures = {
  /** The folder of the demo content with its renditions, for startServer. */
  demoFolder: string;
  demo: Server;
};

export const test = base.extend<Fixtures, WorkerFixtures>({
  // A worker fixture with its own timeout, because with an empty cache it takes one or two minutes.
  demoFolder: [
    async ({}, use) => use(await makeDemoFolder()),
    { scope: "worker", timeout: 600_000 },
  ],
  // One server with the demo content for all tests that do not write. The time of its start does not count for the
  // first of them.
  demo: [
    async ({ demoFolder }, use) => {
      const server = await startServer("sqlite", { demo: demoFolder });
      await use(server);
      await server.stop();
      await stopPostgres();
    },
    { scope: "worker", timeout: 300_000 },
  ],
  allowedConsole: [[], { option: true }],
  // After goto() the fixture makes a visitor's move and waits for hydration, because scripts load after the pictures,
  // and the form after the first move. It does neither if the test passes waitUntil. A test that fails leaves a screenshot.
  page: async ({ page, javaScriptEnabled }, run, info) => {
    const goto = page.goto.bind(page);
    page.goto = async (address, options) => {
      const response = await goto(address, options);
      if (javaScriptEnabled && !options?.waitUntil) await waitUntilInteractive(page);
      return response;
    };
    await run(page);
    if (info.status !== info.expectedStatus && !page.isClosed())
      await page.screenshot({ path: info.outputPath("failed.png") });
  },
  failOnConsole: [
    async ({ context, allowedConsole }, use) => {
      const problems: string[] = [];
      const addProblem = (text: string) => {
        if (text.includes(fontBlocked)) return; // logged by watchShifts
        if (!allowedConsole.some((allowed) => allowed.test(text))) problems.push(text);
      };
      context.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning")
          addProblem(`${message.type()}: ${message.text()} (${message.location().url})`);
      });
      context.on("weberror", (error) =>
        addProblem(`unhandled: ${error.error().stack ?? error.error().message}`),
      );
      await use();
      expect(problems, "console errors and unhandled rejections").toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

// Less than half of what the package's property `source` has, which each page would have to read.
const axeSource = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);
const levelAA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Expects that axe finds no violation of WCAG 2.2 AA in the current state. `also` adds groups of rules. */
export async function expectAccessible(page: Page, also = ["best-practice"]): Promise<void> {
  expect(await violations(page, { type: "tag", values: [...levelAA, ...also] })).toEqual([]);
}

/** Expects that axe finds no violation of the rules of WCAG 2.2 AA about colours. */
export async function expectAccessibleColours(page: Page): Promise<void> {
  expect(
    await violations(page, { type: "rule", values: ["color-contrast", "link-in-text-block"] }),
  ).toEqual([]);
}

/**
 * Expects no violation in either colour scheme, beginning with the current one. Calls `each` in both. The schemes
 * differ only in colours, so in the second one only the rules about colours run.
 */
export async function expectAccessibleInBothSchemes(
  page: Page,
  each: (scheme: "light" | "dark") => Promise<void> = async () => {},
): Promise<void> {
  const dark = await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const schemes = dark ? (["dark", "light"] as const) : (["light", "dark"] as const);
  for (const [n, colorScheme] of schemes.entries())
    await base.step(colorScheme, async () => {
      if (n > 0) await page.emulateMedia({ colorScheme });
      await (n > 0 ? expectAccessibleColours(page) : expectAccessible(page));
      await each(colorScheme);
    });
}

/** Runs axe and returns its findings. */
async function violations(page: Page, runOnly: RunOptions["runOnly"]): Promise<string[]> {
  // @axe-core/playwright sends its half megabyte for each run and searches frames, which this site does not have: the
  // same findings in twice the time. The preloaded style sheets are for rules that are not run.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axeSource);
  // A page that still loads its content has no heading, and nothing else to judge.
  await page.locator("h1").first().waitFor({ state: "attached" });
  await finishAnimations(page); // while an element fades in, its colours differ
  return page.evaluate(
    async (options) => {
      const { axe } = globalThis as unknown as {
        axe: { run(options: RunOptions): Promise<AxeResults> };
      };
      // Turns transitions off, so that no toast fades while axe reads its colours.
      const atOnce = new CSSStyleSheet();
      atOnce.replaceSync("*, ::before, ::after { transition: none !important }");
      document.adoptedStyleSheets.push(atOnce);
      const results = await axe.run(options);
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== atOnce);
      return results.violations.map(
        (v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`,
      );
    },
    { runOnly, resultTypes: ["violations"], preload: { assets: ["media"] } } as RunOptions,
  );
}

/** Finishes short animations. Long ones, such as the hero's progress line, continue. */
export async function finishAnimations(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const brief = document.getAnimations().filter((animation) => {
      const { duration, iterations } = animation.effect?.getComputedTiming() ?? {};
      return typeof duration === "number" && duration <= 1000 && iterations === 1;
    });
    const running = brief.filter((animation) => animation.playState === "running");
    for (const animation of running) animation.finish();
    return running.length === 0;
  });
}

/** Expects that the page cannot be scrolled sideways. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  // Scripts lay out galleries after the window has changed, so the page may be too wide for a moment.
  await expect
    .poll(
      () =>
        page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        ),
      "how much wider than the window the page is",
    )
    .toBeLessThanOrEqual(0);
}

/**
 * Checks a page: axe in both colour schemes, and no scrolling sideways at these widths. Saves screenshots if SCREENSHOTS names a
 * folder. Afterwards the window is as wide as before.
 */
export async function checkPage(
  page: Page,
  name: string,
  widths = [320, 390, 768, 1440],
): Promise<void> {
  const before = page.viewportSize()!;
  const folder = process.env.SCREENSHOTS;
  let measured = false;
  await expectAccessibleInBothSchemes(page, async (scheme) => {
    if (measured && !folder) return; // the schemes differ only in colours
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoSidewaysScroll(page);
      if (folder)
        await page.screenshot({ path: `${folder}/${name}-${width}-${scheme}.png`, fullPage: true });
    }
    measured = true;
  });
  await page.setViewportSize(before);
}

/** Scrolls through the page, so that lazy pictures load, and waits for all of them. */
export async function loadAllPictures(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
      scrollTo({ top: y, behavior: "instant" });
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
    scrollTo({ top: 0, behavior: "instant" });
  });
  await page.waitForFunction(() =>
    [...document.images]
      .filter((i) => i.getBoundingClientRect().width > 0 && i.loading !== "lazy")
      .every((i) => i.complete),
  );
}

const fontBlocked = "net::ERR_BLOCKED_BY_CLIENT";

/**
 * Adds up the layout shifts of pages that are opened from now on, with the elements that shifted. Blocks the site's
 * font, because it depends on the machine whether the font arrives before the first frame, and lines may break
 * differently with it.
 */
export async function watchShifts(page: Page): Promise<() => Promise<Shifts>> {
  await page.route(/\.woff2$/, (route) => route.abort("blockedbyclient"));
  await page.addInitScript(() => {
    const shifts: Shifts = { sum: 0, from: [] };
    Object.assign(globalThis, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number;
        sources: { node: Node | null }[];
      })[]) {
        shifts.sum += entry.value;
        for (const { node } of entry.sources)
          shifts.from.push(node instanceof Element ? node.outerHTML.slice(0, 90) : "text");
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  return () => page.evaluate(() => (globalThis as unknown as { shifts: Shifts }).shifts);
}

type Shifts = { sum: number; from: string[] };

/** Expects that the layout shift is below 0.005. */
export async function expectNoShift(shifts: () => Promise<Shifts>): Promise<void> {
  const { sum, from } = await shifts();
  expect(sum, from.join("\n")).toBeLessThan(0.005);
}

/**
 * Stops the clock of pages that are opened from now on. One call without install() does this: with two calls, the time
 * between them would pass, and pauseAt() cannot go back. Without install() the clock begins in 1970, so every time is
 * later.
 */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt(Date.now());
}

/**
 * Stops the clock of the open page at a time half a minute ahead. Timers that end before then run once. A shorter time
 * could be over before the second call arrives, and pauseAt() cannot go back.
 */
export async function pauseClock(page: Page): Promise<void> {
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 30_000));
}

/**
 * Waits for a toast and keeps it open, as the pointer over it does. On a slow machine its time could otherwise end before
 * the test has examined it or pressed its button. A toast that replaces it is not kept open.
 */
export async function keepToastOpen(toast: Locator): Promise<void> {
  await expect(toast).toBeVisible();
  await toast.dispatchEvent("mousemove");
}

/**
 * Records the texts of the toasts that are shown from now on, also after the page has navigated by scripts. A toast is shown for only
 * four seconds, in which a busy browser may not answer the test. A toast can replace the text of an earlier one. Returns a function
 * that returns the texts.
 */
export async function recordToasts(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const toasts: string[] = [];
    Object.assign(globalThis, { toasts });
    const lastTexts = new WeakMap<Element, string>();
    const record = () => {
      for (const toast of document.querySelectorAll("[data-sonner-toast]")) {
        if (lastTexts.get(toast) === toast.textContent) continue;
        lastTexts.set(toast, toast.textContent);
        toasts.push(toast.textContent);
      }
    };
    const changes = { childList: true, characterData: true, subtree: true };
    new MutationObserver(record).observe(document.body, changes);
  });
  return () => page.evaluate(() => (globalThis as unknown as { toasts: string[] }).toasts);
}

/** Waits until React has hydrated the page. */
export async function waitForHydration(page: Page): Promise<void> {
  await page.waitForFunction(isHydrated);
}

/** Runs inside the page. */
const isHydrated = () =>
  Object.keys(document.querySelector("main") ?? {}).some((key) => key.startsWith("__reactProps$"));

/**
 * Makes a visitor's move, which loads the scripts, and waits for hydration including the contact form. Returns at once
 * for a page whose root element the server left empty.
 */
export async function waitUntilInteractive(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    if (document.readyState === "loading") return false;
    if (!document.querySelector("script[data-site]")) return true;
    const parts = [document.querySelector("main"), document.querySelector("#contact form")];
    const hydrated = parts.every(
      (part) => !part || Object.keys(part).some((key) => key.startsWith("__reactProps$")),
    );
    // At each attempt, because the first script of the page may not listen yet.
    if (!hydrated) document.dispatchEvent(new Event("pointermove"));
    return hydrated;
  });
}

/** Holds back requests whose URL matches, until the returned function is called. */
export async function holdRequests(page: Page, pattern: RegExp): Promise<() => void> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(pattern, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

/**
 * Removes the server's HTML and data from pages, so that the browser renders them, as it does when the server cannot.
 */
export async function renderInBrowser(page: Page): Promise<void> {
  await page.route("**/*", async (route) => {
    if (route.request().resourceType() !== "document") return route.fallback();
    const response = await route.fetch();
    const body = (await response.text())
      .replace(/<div id="root">.*<\/div>(?=\s*<script[^>]* id="boot")/s, '<div id="root"></div>')
      .replace(
        /<script[^>]* data-site="(\S+?)[ "].*?<\/script>/,
        '<script type="module" src="$1"></script>',
      )
      .replaceAll(/<link rel="preload" as="image"[^>]*>/g, "") // of pictures in the data
      .replace(/,"queries":\[.*\](?=\}<\/script>)/, "");
    return route.fulfill({ response, body });
  });
}

/** Blocks the site's own scripts. Scripts as such stay enabled, because axe needs them. */
export async function blockSiteScripts(page: Page): Promise<void> {
  await page.route(/\/assets\/.*\.js$/, (route) =>
    route.fulfill({ body: "", contentType: "text/javascript" }),
  );
}

/** Renders the noscript elements of a page whose scripts are blocked, as browsers without scripts do. */
export async function showNoscript(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const element of document.querySelectorAll("noscript")) {
      const place = document.createElement("div");
      place.className = element.className || "contents";
      place.innerHTML = element.textContent ?? "";
      element.replaceWith(place);
    }
  });
}

/** Opens a page with a hero on a paused clock, which the test advances. */
export async function openWithPausedClock(page: Page, address: string): Promise<void> {
  await stopClock(page);
  await page.goto(address, { waitUntil: "load" });
  await expect
    .poll(async () => {
      await page.clock.runFor(20);
      return page.evaluate(isHydrated);
    }, "the page is hydrated")
    .toBe(true);
}

/**
 * Returns a JPEG that the browser has painted and encoded: as detailed as a photograph, or plain with twelve colours.
 * The plain one begins with another colour for each `turn`.
 */
export async function makeJpeg(
  page: Page,
  options: { width: number; height: number; quality?: number; plain?: true; turn?: number },
): Promise<Buffer> {
  const base64 = await page.evaluate(async (o) => {
    const { width, height, quality = 0.8, turn = 0 } = o;
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d")!;
    for (let i = 0; o.plain && i < 12; i++) {
      context.fillStyle = `hsl(${turn * 37 + i * 30} 60% 50%)`;
      context.fillRect(
        (i % 4) * (width / 4),
        Math.floor(i / 4) * (height / 3),
        width / 4,
        height / 3,
      );
    }
    for (let i = 0; !o.plain && i < 4000; i++) {
      context.fillStyle = `hsl(${(i * 47) % 360} 60% ${30 + (i % 50)}%)`;
      context.fillRect((i * 7919) % width, (i * 104729) % height, 40 + (i % 300), 40 + (i % 200));
    }
    const blob = await canvas.convertToBlob({ type: "image/jpeg", quality });
    const bytes = new Uint8Array(await blob.arrayBuffer());
    let text = "";
    for (let i = 0; i < bytes.length; i += 0x8000)
      text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
    return btoa(text);
  }, options);
  return Buffer.from(base64, "base64");
}
