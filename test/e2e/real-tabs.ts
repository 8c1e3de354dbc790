// A browser with real tab visibility. Pages opened by Playwright are always visible.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { type BrowserContext, chromium, type LaunchOptions } from "@playwright/test";

/** Calls `act` with a new browser, and closes it. */
export async function withVisibleTabs(
  { args = [] }: LaunchOptions,
  act: (context: BrowserContext) => Promise<void>,
): Promise<void> {
  const profile = await mkdtemp(join(tmpdir(), "atelie-tabs-"));
  const child = spawn(
    "/usr/bin/chromium", // not the headless shell, which has no windows
    [
      "--headless",
      "--no-startup-window",
      ...args,
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = once(child, "close"); // also waits for its child processes, which write into the profile
  try {
    const address = await new Promise<string>((found, failed) => {
      child.once("error", failed);
      child.once("exit", (code) => failed(new Error(`the browser ended with ${code}`)));
      createInterface({ input: child.stderr }).on("line", (line) => {
        const url = /^DevTools listening on (\S+)/.exec(line)?.[1];
        if (url) found(url);
      });
    });
    const browser = await chromium.connectOverCDP(address, { noDefaults: true });
    await act(browser.contexts()[0]!);
    await browser.close();
  } finally {
    child.kill();
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
