import { availableParallelism } from "node:os";

import { defineConfig } from "@playwright/test";

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
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
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
    trace: "retain-on-failure",
  },
});
