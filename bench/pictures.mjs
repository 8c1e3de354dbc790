// Compares the sizes in bytes of the pictures that the home page and the gallery of the demo site request with those that the
// library sharp makes. Sharp makes pictures with the same dimensions and crops from the same originals, in WebP with its defaults
// (quality 80, effort 4). Exits with 1 unless the pictures of each page together have fewer bytes than sharp's.
import { chromium } from "@playwright/test";
import sharp from "sharp";

import { startDemoServer } from "./demo.mjs";

const screens = [
  { width: 390, height: 844, deviceScaleFactor: 3 },
  { width: 1440, height: 900, deviceScaleFactor: 1 },
];
const pages = ["/", "/gallery/all"];

/** Returns the URLs of all renditions that a page requests while it is scrolled to the end. */
async function requestedRenditions(browser, server, screen, path) {
  const { deviceScaleFactor, ...viewport } = screen;
  const page = await browser.newPage({ viewport, deviceScaleFactor });
  const urls = new Set();
  page.on("request", (request) => {
    if (request.url().includes("/render/image/")) urls.add(request.url());
  });
  await page.goto(server.url + path);
  await page
    .getByRole("link", { name: /^Open / })
    .first()
    .waitFor();
  const height = () => page.evaluate(() => document.documentElement.scrollHeight);
  for (let y = 0; y < (await height()); y += viewport.height / 2) {
    await page.evaluate((top) => scrollTo({ top, behavior: "instant" }), y);
    await page.waitForFunction(() =>
      [...document.images].every((image) => {
        const { top, bottom, left, right, width } = image.getBoundingClientRect();
        const near = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
        return width === 0 || !near || image.complete;
      }),
    );
  }
  await page.waitForLoadState("networkidle");
  await page.close();
  return [...urls];
}

// The bytes of the originals by URL.
const originals = new Map();
/** Returns the bytes of the original of a rendition. */
async function originalOf(renditionUrl) {
  const url = renditionUrl.replace("/render/image/public/", "/object/public/").replace(/\?.*/, "");
  if (!originals.has(url)) originals.set(url, await bytesOf(url));
  return originals.get(url);
}

/** Downloads a file as a browser that accepts WebP. */
async function bytesOf(url) {
  const response = await fetch(url, { headers: { accept: "image/webp,*/*" } });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

const server = await startDemoServer();
let larger = 0;
try {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    console.log(
      `\n## Pictures of the demo's pages, in kB, beside sharp ${sharp.versions.sharp}'s WebP of the same size\n`,
    );
    console.log("| screen | page | pictures | ours | sharp's | ratio |");
    console.log("| --- | --- | --- | --- | --- | --- |");
    for (const screen of screens)
      for (const path of pages) {
        let [ours, theirs, count] = [0, 0, 0];
        for (const url of await requestedRenditions(browser, server, screen, path)) {
          const file = await bytesOf(url);
          const { width, height, format } = await sharp(file).metadata();
          if (format !== "webp") throw new Error(`${url} is ${format}`);
          const cut = new URL(url).searchParams.get("resize") === "cover";
          const other = sharp(await originalOf(url))
            .autoOrient()
            .resize(width, cut ? height : undefined)
            .webp();
          const theirFile = await other.toBuffer();
          ours += file.length;
          theirs += theirFile.length;
          count++;
        }
        if (ours >= theirs) larger++;
        const kB = (bytes) => (bytes / 1000).toFixed(1);
        console.log(
          `| ${screen.width} × ${screen.deviceScaleFactor} | ${path} | ${count} | ${kB(ours)} | ${kB(theirs)} | **${(ours / theirs).toFixed(3)}** |`,
        );
      }
  } finally {
    await browser.close();
  }
} finally {
  await server.stop();
}
if (larger > 0) {
  console.error(`${larger} rows of the table: the pictures are not smaller than sharp's`);
  process.exitCode = 1;
}
