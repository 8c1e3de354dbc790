// Measures the frames while a work is dragged over the wall (the admin area's list of works as pictures). It compares a wall of
// 5,000 works with one of 50 works, in the same run. The browser has the profile of a medium phone: 390 px wide, with a processor
// slowed down four times. The frame rate without a drag shows what the machine can reach.
import { chromium } from "@playwright/test";

import { asOwner, asService } from "../test/harness/clients.ts";
import { png } from "../test/harness/png.ts";
import { startServer } from "../test/harness/server.ts";

// Numbers of works on the two walls.
const FEW = 50;
const MANY = 5000;
const RUNS = 3; // drags on each wall
const DRAG_MS = 4000; // how long a drag lasts
const SLOWDOWN = 4; // how many times slower the processor is

/** Starts a server with `count` works, each with a picture, and returns it with the session of its owner. */
async function startWithWorks(count) {
  const server = await startServer("sqlite");
  const client = asService(server);
  const bucket = client.storage.from("product-images");
  const { error } = await bucket.upload("work.png", png(1200, 900), { contentType: "image/png" });
  if (error) throw error;
  const picture = bucket.getPublicUrl("work.png").data.publicUrl;
  const works = Array.from({ length: count }, (_, n) => ({
    title: `Work ${n + 1}`,
    artwork_type: "oil",
    image_url: `${picture}?work=${n}`,
  }));
  for (let from = 0; from < count; from += 500) {
    const inserted = await client.from("products").insert(works.slice(from, from + 500));
    if (inserted.error) throw inserted.error;
  }
  const owner = await asOwner(server);
  const { data } = await owner.auth.getSession();
  return { server, session: data.session };
}

/** Opens the wall as the owner, in the order that the owner has set by hand. */
async function open(browser, { server, session }) {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${server.url}/health/live`); // the site's origin, without its scripts
  const key = `sb-${new URL(server.url).hostname.split(".")[0]}-auth-token`;
  await page.evaluate(
    ([name, value]) => localStorage.setItem(name, value),
    [key, JSON.stringify(session)],
  );
  await page.goto(`${server.url}/admin/products?as=wall&sort=manual`);
  await page.locator("[data-index='1'] [data-picture][aria-pressed]").waitFor();
  return page;
}

/** Returns the frames per second and the share of late frames during some seconds, in which `act` runs. */
async function frames(page, act) {
  await page.evaluate(() => {
    globalThis.frameTimes = [];
    const step = (now) => {
      globalThis.frameTimes.push(now);
      globalThis.frameRequest = requestAnimationFrame(step);
    };
    globalThis.frameRequest = requestAnimationFrame(step);
  });
  await act();
  const times = await page.evaluate(() => {
    cancelAnimationFrame(globalThis.frameRequest);
    return globalThis.frameTimes;
  });
  const gaps = times.slice(1).map((time, n) => time - times[n]);
  return {
    rate: (1000 * gaps.length) / (times.at(-1) - times[0]),
    late: gaps.filter((gap) => gap > 25).length / gaps.length,
  };
}

/** Measures the frames of a page at rest, and while a work is dragged across the window and down the wall by its edge. */
async function measure(browser, site) {
  const page = await open(browser, site);
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  const rest = await frames(page, () => page.waitForTimeout(DRAG_MS / 2));
  await page.locator("[data-index='1'] [data-picture]").hover();
  await page.mouse.down();
  const move = (n) => page.mouse.move(40 + ((n * 7) % 300), 300 + ((n * 5) % 300));
  const drag = await frames(page, async () => {
    const end = Date.now() + DRAG_MS;
    for (let n = 0; Date.now() < end; n++) await move(n);
  });
  const scroll = await frames(page, async () => {
    await page.mouse.move(200, 830); // the page scrolls while the pointer is at its edge
    await page.waitForTimeout(DRAG_MS);
  });
  await page.keyboard.press("Escape");
  await page.mouse.up();
  await page.close();
  return { rest, drag, scroll };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
const sites = [];
try {
  for (const count of [FEW, MANY]) sites.push(await startWithWorks(count));
  const runs = sites.map(() => []);
  // Alternates between the walls, so that other load of the machine affects both.
  for (let n = 0; n < RUNS; n++)
    for (const [i, site] of sites.entries()) runs[i].push(await measure(browser, site));
  console.log(
    `\nWall with ${FEW} and with ${MANY} works at 390 px, processor ${SLOWDOWN} times slower, median of ${RUNS} drags of ${DRAG_MS / 1000} s`,
  );
  for (const [what, name] of [
    ["rest", "at rest"],
    ["drag", "while dragging"],
    ["scroll", "while dragging and scrolling"],
  ]) {
    const [few, many] = runs.map((list) => ({
      rate: median(list.map((run) => run[what].rate)),
      late: median(list.map((run) => run[what].late)),
    }));
    const text = ({ rate, late }) =>
      `${rate.toFixed(1).padStart(6)} frames/s ${(100 * late).toFixed(1).padStart(5)} % later than 25 ms`;
    console.log(
      `  ${name.padEnd(30)} ${text(few)}   ${text(many)}   ratio ${(many.rate / few.rate).toFixed(2)}`,
    );
  }
} finally {
  await browser.close();
  for (const { server } of sites) await server.stop();
}
