// A browser test starts the real binary, and fails on any console error or unhandled rejection.
import { expect, type Page, test as base } from "@playwright/test";
import axeCore, { type AxeResults, type RunOptions } from "axe-core";

import { stopPostgres } from "../harness/postgres.ts";
import { type Server, startServer } from "../harness/server.ts";

type Fixtures = {
  /** Console lines that a test expects, such as the browser's own note on a 404 document. */
  allowedConsole: RegExp[];
  failOnConsole: void;
};

type WorkerFixtures = { demo: Server };

export const test = base.extend<Fixtures, WorkerFixtures>({
  // One server with the demo content for all tests that only look.
  demo: [
    async ({}, use) => {
      const server = await startServer("sqlite", { demo: true });
      await use(server);
      await server.stop();
      await stopPostgres();
    },
    { scope: "worker" },
  ],
  allowedConsole: [[], { option: true }],
  // Going somewhere ends when the page can be used: its scripts follow its pictures, and its form follows both. Whoever
  // says until when to wait means that.
  page: async ({ page, javaScriptEnabled }, give) => {
    const goto = page.goto.bind(page);
    page.goto = async (address, options) => {
      const response = await goto(address, options);
      if (javaScriptEnabled && !options?.waitUntil) await usable(page);
      return response;
    };
    await give(page);
  },
  failOnConsole: [
    async ({ context, allowedConsole }, use) => {
      const problems: string[] = [];
      const note = (text: string) => {
        if (!allowedConsole.some((allowed) => allowed.test(text))) problems.push(text);
      };
      context.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning")
          note(`${message.type()}: ${message.text()} (${message.location().url})`);
      });
      context.on("weberror", (error) =>
        note(`unhandled: ${error.error().stack ?? error.error().message}`),
      );
      await use();
      expect(problems, "console errors and unhandled rejections").toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

const levelAA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** No violation of WCAG 2.2 AA on what is shown now; `also` names more of axe's groups of rules. */
export async function expectAccessible(page: Page, also = ["best-practice"]): Promise<void> {
  // Axe's own runner for Playwright hands its half megabyte over for every look, and looks into frames, which this
  // site has none of: the same findings in twice the time.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axeCore.source);
  const violations = await page.evaluate(
    async (tags) => {
      const { axe } = globalThis as unknown as {
        axe: { run(options: RunOptions): Promise<AxeResults> };
      };
      const found = await axe.run({ runOnly: tags, resultTypes: ["violations"] });
      return found.violations.map(
        (v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`,
      );
    },
    [...levelAA, ...also],
  );
  expect(violations).toEqual([]);
}

/** Fades and slides are at their end; what runs for seconds, such as the hero's time line, is left alone. */
export async function settled(page: Page): Promise<void> {
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

/** Nothing sticks out sideways. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  expect(
    await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    ),
  ).toBeLessThanOrEqual(0);
}

/** Scrolls through the page, so that lazy pictures are asked for, and waits until all are shown. */
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

/** React has taken over what the server has drawn: before, links are plain links, and keys have their usual meaning alone. */
export async function hydrated(page: Page): Promise<void> {
  await page.waitForFunction(isHydrated);
}

/** Runs in the page. */
const isHydrated = () =>
  Object.keys(document.querySelector("main") ?? {}).some((key) => key.startsWith("__reactProps$"));

/** The page came from the server empty, or React has taken over what it has drawn, the contact form included. */
export async function usable(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    if (!document.querySelector("script[data-site]")) return true;
    const parts = [document.querySelector("main"), document.querySelector("#contact form")];
    return parts.every(
      (part) => !part || Object.keys(part).some((key) => key.startsWith("__reactProps$")),
    );
  });
}

/** Pages as they are while the server cannot draw them: the browser does it, and has to ask for everything. */
export async function drawnByTheBrowser(page: Page): Promise<void> {
  await page.route("**/*", async (route) => {
    if (route.request().resourceType() !== "document") return route.fallback();
    const response = await route.fetch();
    const body = (await response.text())
      .replace(/<div id="root">.*<\/div>(?=\s*<script[^>]* id="boot")/s, '<div id="root"></div>')
      .replace(
        /<script[^>]* data-site="(\S+?)[ "].*?<\/script>/,
        '<script type="module" src="$1"></script>',
      )
      .replaceAll(/<link rel="preload" as="image"[^>]*>/g, "") // of what the data name
      .replace(/,"queries":\[.*\](?=\}<\/script>)/, "");
    return route.fulfill({ response, body });
  });
}

/** Opens a page with a hero on a clock that stands still from the moment the hero is there: time is the test's. */
export async function openWithStillClock(page: Page, address: string): Promise<void> {
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1_000);
  await page.goto(address, { waitUntil: "load" });
  await expect
    .poll(async () => {
      await page.clock.runFor(20);
      return page.evaluate(isHydrated);
    })
    .toBe(true);
}

/** A photograph's size without a photograph in the repository: the browser itself paints and encodes the JPEG. */
export async function paintedJpeg(
  page: Page,
  size: { width: number; height: number; quality: number },
): Promise<Buffer> {
  const base64 = await page.evaluate(async ({ width, height, quality }) => {
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d")!;
    for (let i = 0; i < 4000; i++) {
      context.fillStyle = `hsl(${(i * 47) % 360} 60% ${30 + (i % 50)}%)`;
      context.fillRect((i * 7919) % width, (i * 104729) % height, 40 + (i % 300), 40 + (i % 200));
    }
    const blob = await canvas.convertToBlob({ type: "image/jpeg", quality });
    const bytes = new Uint8Array(await blob.arrayBuffer());
    let text = "";
    for (let i = 0; i < bytes.length; i += 0x8000)
      text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
    return btoa(text);
  }, size);
  return Buffer.from(base64, "base64");
}
