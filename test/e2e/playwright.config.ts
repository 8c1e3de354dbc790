import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";

import { defineConfig } from "@playwright/test";

// The same engine without the parts of a desktop program: a page opens in less than half the time.
const shell = "/usr/bin/chromium-headless-shell";
const browser = existsSync(shell) ? shell : "/usr/bin/chromium";

export default defineConfig({
  testDir: ".",
  globalSetup: "./global-setup.ts",
  outputDir: "../../test-results",
  timeout: 60_000,
  workers: availableParallelism() < 4 ? 2 : 3, // files side by side; each worker has servers of its own
  expect: { timeout: 10_000 }, // browsers and servers share the processors
  forbidOnly: !!process.env.CI,
  retries: process.env.CI ? 1 : 0, // a shared machine may stall a browser; what needed the second try is reported as flaky
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
      ],
    },
    trace: process.env.CI ? "on-first-retry" : "retain-on-failure", // taking one costs a sixth of the time
  },
});
