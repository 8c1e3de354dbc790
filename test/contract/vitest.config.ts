import { defineConfig } from "vitest/config";

export default defineConfig({
  root: import.meta.dirname,
  test: {
    globalSetup: "./global-setup.ts",
    include: ["**/*.test.ts"],
    environment: "node",
    // Long enough for a busy machine: failures end a test at once.
    testTimeout: 60_000,
    hookTimeout: 120_000, // the first PostgreSQL database waits for its server
    maxWorkers: 2, // parallel files; each has its own servers and databases
  },
});
