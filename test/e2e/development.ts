// Runs React's development build on the pages that the binary renders. It reports every hydration mismatch, including
// attributes. The production build corrects differing texts silently.
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

/** Builds the site's scripts in development mode. */
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
  const manifest = await readFile(join(folder, ".vite/manifest.json"), "utf8");
  const { file } = (JSON.parse(manifest) as { "index.html": { file: string } })["index.html"];
  return {
    folder,
    entry: `<script type="module" crossorigin src="/${file}"></script>`,
    remove: () => rm(folder, { recursive: true }),
  };
}

/** Serves the scripts of that build with the server's pages; `change` may modify the HTML. */
export async function useDevelopmentBuild(
  page: Page,
  build: DevelopmentBuild,
  change = (html: string) => html,
): Promise<void> {
  await page.route(/\/assets\/[^/]+\.(js|css)$/, async (route) => {
    const path = join(build.folder, "assets", basename(new URL(route.request().url()).pathname));
    // A page that is already open keeps its own scripts.
    return existsSync(path) ? route.fulfill({ path }) : route.fallback();
  });
  await page.route("**/*", async (route) => {
    if (route.request().resourceType() !== "document") return route.fallback();
    const response = await route.fetch();
    const rendered = (await response.text())
      .replace(entry, build.entry)
      .replaceAll(/<link rel="modulepreload"[^>]*>/g, "");
    return route.fulfill({ response, body: change(rendered) });
  });
  // After parsing, before the scripts run.
  await page.addInitScript(() => {
    document.addEventListener("readystatechange", () => {
      if (document.readyState !== "interactive") return;
      (globalThis as { drawn?: Element | null }).drawn = document.querySelector("main");
      document.documentElement.dataset.moved = ""; // start.ts, which these pages lack, would set this after the visitor's move
    });
  });
}

/**
 * Opens a page and waits for its hydration, including lazy components. `kept` is whether React has reused the nodes of
 * the HTML.
 */
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
