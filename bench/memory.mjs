// Measures the memory of the server and of the processes that it has started, while a visitor goes through the demo site on a phone,
// a desktop and a tablet. After each device and half a minute later, it prints the resident megabytes, and their ratio to the
// megabytes right after the start. Runs on Linux only. Exits with 1 if more than MAX_MB are resident at the end.
import { readdir, readFile } from "node:fs/promises";

import { chromium, devices } from "@playwright/test";

import { makeDemoFolder } from "../test/harness/demo-folder.ts";
import { startServer } from "../test/harness/server.ts";

const MAX_MB = 80; // of the server and its processes together
const PAUSE_MS = 30_000; // the pause after a device, before the second measurement
const visitors = {
  phone: devices["Pixel 7"],
  desktop: { viewport: { width: 1440, height: 900 } },
  tablet: devices["iPad (gen 7)"],
};
const galleries = ["/gallery", "/gallery/digital", "/gallery/mural", "/gallery/watercolour"];

/** Returns the resident megabytes of a process, and of all its descendants. */
async function resident(pid) {
  const processes = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const status = await readFile(`/proc/${name}/status`, "utf8");
      const value = (key) => Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
      processes.push({ pid: Number(name), parent: value("PPid"), mb: value("VmRSS") / 1024 });
    } catch (error) {
      if (!["ENOENT", "ESRCH"].includes(error.code)) throw error; // the process has ended
    }
  }
  const descendants = (ancestor) =>
    processes
      .filter(({ parent }) => parent === ancestor)
      .flatMap((child) => [child, ...descendants(child.pid)]);
  const workers = descendants(pid);
  return {
    server: processes.find((process) => process.pid === pid).mb,
    workers: workers.reduce((sum, { mb }) => sum + mb, 0),
    count: workers.length,
  };
}

/** Scrolls to the end, so that each picture is requested. */
async function scroll(page) {
  await page.evaluate(async () => {
    document.documentElement.style.scrollBehavior = "auto";
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    while (scrollY < document.documentElement.scrollHeight - innerHeight - 1) {
      scrollBy(0, innerHeight / 2);
      for (let n = 0; n < 6; n++) await frame();
    }
  });
  await page.waitForLoadState("networkidle");
}

/** Visits all pages with a device, and scrolls each to its end. */
async function walk(browser, server, device) {
  const { defaultBrowserType: _, ...options } = device;
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    for (const path of ["/", ...galleries]) {
      await page.goto(server.url + path, { waitUntil: "networkidle" });
      await scroll(page);
    }
    const link = page.locator('a[href*="art="]').first();
    await page.goto(new URL(await link.getAttribute("href"), page.url()).href, {
      waitUntil: "networkidle",
    });
    await page.getByRole("dialog").getByRole("img").first().waitFor();
  } finally {
    await context.close();
  }
}

const demo = await makeDemoFolder();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
const server = await startServer("sqlite", { demo });
let last;
try {
  const first = await resident(server.pid);
  console.log("\n## Resident memory on a visitor's journey (SQLite, demo content)\n");
  console.log("| when | server MB | workers MB | together | to the start |");
  console.log("|---|---|---|---|---|");
  const row = (when, now) => {
    const together = now.server + now.workers;
    const ratio = together / (first.server + first.workers);
    console.log(
      `| ${when} | ${now.server.toFixed(1)} | ${now.workers.toFixed(1)} (${now.count}) | **${together.toFixed(1)}** | ${ratio.toFixed(2)} |`,
    );
    return together;
  };
  row("start", first);
  for (const [name, device] of Object.entries(visitors)) {
    await walk(browser, server, device);
    row(name, await resident(server.pid));
    await new Promise((done) => setTimeout(done, PAUSE_MS));
    last = row(`${name}, ${PAUSE_MS / 1000} s later`, await resident(server.pid));
  }
} finally {
  await browser.close();
  await server.stop();
}
if (last > MAX_MB) {
  console.error(`${last.toFixed(1)} MB stay after the journey, more than ${MAX_MB}`);
  process.exitCode = 1;
}
