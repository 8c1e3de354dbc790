// The configuration of the browser tests.
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";

import { defineConfig } from "@playwright/test";

// Chromium without desktop windows. It opens pages in less than half the time.
const shell = "/usr/bin/chromium-headless-shell";
const browser = existsSync(shell) ? shell : "/usr/bin/chromium";

export default defineConfig({
  testDir: ".",
  outputDir: "../../test-results",
  timeout: 600_000, // like that of expect, it only ends a hang
  workers: availableParallelism() < 4 ? 2 : 3, // parallel files; each worker has its own servers
  expect: { timeout: 60_000 }, // only ends a hang, because browsers, servers and other tests share the processors
  forbidOnly: !!process.env.CI,
  retries: 0, // a test that passes only at a second attempt has a fault, or the program has
  reporter: [["list"], ["json"]],
  use: {
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? browser,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        // Fewer processes and threads: opening a page takes a fifth less CPU time than with Chromium's defaults.
        "--in-process-gpu",
        "--js-flags=--single-threaded",
        // The last --enable-features counts, so it repeats the one of Playwright.
        "--enable-features=NetworkServiceInProcess2,CDPScreenshotNewSurface",
      ],
    },
    // A trace doubles the time of a test: TRACE=retain-on-failure to debug a failure.
    trace: (process.env.TRACE ?? "off") as "off" | "on" | "retain-on-failure",
    screenshot: "off", // the fixture `page` takes one of a test that failed; the option takes one of every context that closes
  },
});
