// Compares a gallery with 5,000 works to one with 50 works, in the same run: first paint, frames while scrolling, memory. Absolute
// numbers depend on the machine, so only the ratios count.
import { chromium } from "@playwright/test";

import { asService } from "../test/harness/clients.ts";
import { png } from "../test/harness/png.ts";
import { startServer } from "../test/harness/server.ts";

// Numbers of works in the two galleries.
const FEW = 50;
const MANY = 5000;
const LOADS = 7; // how often each gallery is loaded
const SCROLLS = 3; // how often each gallery is scrolled
const SCROLL_MS = 4000; // how long a scroll lasts
const SPEED = 2000; // pixels per second: fast scrolling with the wheel
// Widths and heights of the pictures, in pixels.
const shapes = [
  [1200, 900],
  [900, 1200],
  [1000, 1000],
  [1400, 700],
  [700, 1400],
];

/** Starts a server with `count` works. No two works have the same picture URL, so that the browser decodes every picture. */
async function startWithWorks(count) {
  const server = await startServer("sqlite");
  const client = asService(server);
  const pictures = [];
  for (const [n, [width, height]] of shapes.entries()) {
    const bucket = client.storage.from("product-images");
    const { error } = await bucket.upload(`${n}.png`, png(width, height), {
      contentType: "image/png",
    });
    if (error) throw error;
    pictures.push(bucket.getPublicUrl(`${n}.png`).data.publicUrl);
  }
  const types = ["digital", "mural", "watercolour"];
  const works = Array.from({ length: count }, (_, n) => ({
    title: `Work ${n + 1}`,
    artwork_type: types[n % 3],
    medium: "Watercolour on cotton paper",
    image_url: `${pictures[n % pictures.length]}?work=${n}`,
  }));
  for (let from = 0; from < count; from += 1000) {
    const { error } = await client.from("products").insert(works.slice(from, from + 1000));
    if (error) throw error;
  }
  return server;
}

/** Opens the gallery and waits until its first picture has loaded. */
async function open(browser, server) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${server.url}/gallery/all`);
  await page.getByRole("listitem").first().waitFor();
  await page.waitForFunction(() => document.images[0]?.complete);
  return page;
}

/** Returns the milliseconds until the first paint, and until the first works are shown. */
async function paint(browser, server) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector("[role=listitem]")) return;
      observer.disconnect();
      requestAnimationFrame(() => (globalThis.worksShown = performance.now()));
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(`${server.url}/gallery/all`);
  const times = await page.waitForFunction(() => {
    const [first] = performance.getEntriesByName("first-contentful-paint");
    return (
      first && globalThis.worksShown && { first: first.startTime, works: globalThis.worksShown }
    );
  });
  const result = await times.jsonValue();
  await page.close();
  return result;
}

/** Returns the frames per second and the share of late frames while the page scrolls down (and up again at the end). */
async function scroll(browser, server) {
  const page = await open(browser, server);
  const result = await page.evaluate(
    ([duration, speed]) =>
      new Promise((done) => {
        document.documentElement.style.scrollBehavior = "auto";
        const frames = [];
        let direction = 1;
        const begin = performance.now();
        let last = begin;
        const step = (now) => {
          frames.push(now - last);
          const end = document.documentElement.scrollHeight - innerHeight;
          if (scrollY >= end - 1) direction = -1;
          else if (scrollY <= 0) direction = 1;
          scrollBy(0, (direction * speed * Math.min(50, now - last)) / 1000);
          last = now;
          if (now - begin < duration) requestAnimationFrame(step);
          else {
            const late = frames.filter((time) => time > 25).length / frames.length;
            done({ rate: (1000 * (frames.length - 1)) / (now - begin), late });
          }
        };
        requestAnimationFrame(step);
      }),
    [SCROLL_MS, SPEED],
  );
  await page.close();
  return result;
}

/** Returns the DOM nodes and the megabytes of the heap after scrolling through the whole gallery, one screen at a time. */
async function walk(browser, server) {
  const page = await open(browser, server);
  await page.evaluate(async () => {
    document.documentElement.style.scrollBehavior = "auto";
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    while (scrollY < document.documentElement.scrollHeight - innerHeight - 1) {
      scrollBy(0, innerHeight);
      await frame();
      await frame();
    }
  });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable");
  await cdp.send("HeapProfiler.collectGarbage");
  const { metrics } = await cdp.send("Performance.getMetrics");
  const valueOf = (name) => metrics.find((metric) => metric.name === name).value;
  await page.close();
  return { nodes: valueOf("Nodes"), heap: valueOf("JSHeapUsedSize") / 1e6 };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function line(name, unit, few, many, digits = 0) {
  const value = (number) => `${number.toFixed(digits).padStart(8)} ${unit.padEnd(5)}`;
  console.log(
    `  ${name.padEnd(28)} ${value(few)} ${value(many)}  ratio ${(many / few).toFixed(2)}`,
  );
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"],
});
const servers = [];
try {
  for (const count of [FEW, MANY]) servers.push(await startWithWorks(count));
  const runs = servers.map(() => ({ paints: [], scrolls: [], walk: null }));
  for (const server of servers) await paint(browser, server); // fills the caches of disk and code
  // Alternates between the servers, so that other load of the machine affects both.
  for (let n = 0; n < LOADS; n++)
    for (const [i, server] of servers.entries()) runs[i].paints.push(await paint(browser, server));
  for (let n = 0; n < SCROLLS; n++)
    for (const [i, server] of servers.entries())
      runs[i].scrolls.push(await scroll(browser, server));
  for (const [i, server] of servers.entries()) runs[i].walk = await walk(browser, server);

  // Each returns a value for the gallery with few works and one for the gallery with many.
  const pair = (pick) => runs.map(pick);
  const medians = (list, name) => pair((run) => median(run[list].map((result) => result[name])));
  console.log(
    `\nGallery with ${FEW} and with ${MANY} works, median of ${LOADS} loads, ${SCROLLS} scrolls of ${SCROLL_MS / 1000} s`,
  );
  line("first contentful paint", "ms", ...medians("paints", "first"));
  line("first works shown", "ms", ...medians("paints", "works"));
  line("frames while scrolling", "/s", ...medians("scrolls", "rate"), 1);
  const late = medians("scrolls", "late").map((share) => (100 * share).toFixed(1));
  console.log(
    `  ${"frames later than 25 ms".padEnd(28)} ${late[0].padStart(8)} %     ${late[1].padStart(8)} %`,
  );
  line("DOM nodes after the whole", "", ...pair((run) => run.walk.nodes));
  line("JavaScript heap after it", "MB", ...pair((run) => run.walk.heap), 1);
} finally {
  await browser.close();
  for (const server of servers) await server.stop();
}
