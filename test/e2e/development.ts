// React's development build in the browser, over the pages that the binary has drawn: it tells every difference between
// the two, down to attributes, where the production build mends texts in silence.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import type { Page, Response } from "@playwright/test";

import { root } from "../harness/root.ts";

const entry = /<script type="module"[^>]*><\/script>/;

export type DevelopmentBuild = { folder: string; entry: string; remove: () => Promise<void> };

/** Builds the site's script once more, for development. */
export async function buildForDevelopment(): Promise<DevelopmentBuild> {
  const folder = await mkdtemp(join(tmpdir(), "atelie-development-"));
  await promisify(execFile)(
    process.execPath,
    [
      "node_modules/vite/bin/vite.js",
      "build",
      "web",
      "--mode=development",
      "--minify=false",
    ].concat(["--logLevel=error", `--outDir=${folder}`]),
    { cwd: root, env: { ...process.env, NODE_ENV: "development" } },
  );
  const found = entry.exec(await readFile(join(folder, "index.html"), "utf8"))?.[0];
  if (!found) throw new Error("The development build has no entry");
  return { folder, entry: found, remove: () => rm(folder, { recursive: true }) };
}

/** Gives pages of the server the scripts of that build; `change` may spoil the page on its way. */
export async function useDevelopmentBuild(
  page: Page,
  build: DevelopmentBuild,
  change = (html: string) => html,
): Promise<void> {
  await page.route(/\/assets\/[^/]+\.(js|css)$/, async (route) => {
    const path = join(build.folder, "assets", basename(new URL(route.request().url()).pathname));
    // A page that was opened before still loads its own.
    return existsSync(path) ? route.fulfill({ path }) : route.fallback();
  });
  await page.route("**/*", async (route) => {
    if (route.request().resourceType() !== "document") return route.fallback();
    const response = await route.fetch();
    const drawn = (await response.text())
      .replace(entry, build.entry)
      .replaceAll(/<link rel="modulepreload"[^>]*>/g, "");
    return route.fulfill({ response, body: change(drawn) });
  });
  // When the page has been read, and before its script runs.
  await page.addInitScript(() => {
    document.addEventListener("readystatechange", () => {
      if (document.readyState === "interactive")
        (globalThis as { drawn?: Element | null }).drawn = document.querySelector("main");
    });
  });
}

/** Opens a page and waits until React has taken it over, its late parts included; tells whether it kept the nodes. */
export async function openAndHydrate(
  page: Page,
  address: string,
): Promise<{ response: Response | null; kept: boolean }> {
  const response = await page.goto(address);
  await page.waitForFunction(() => {
    const taken = (node: Element | null) =>
      !!node && Object.keys(node).some((key) => key.startsWith("__reactProps$"));
    const form = document.querySelector("#contact form");
    return taken(document.querySelector("main")) && (!form || taken(form));
  });
  const kept = await page.evaluate(
    () => (globalThis as { drawn?: Element | null }).drawn === document.querySelector("main"),
  );
  return { response, kept };
}
