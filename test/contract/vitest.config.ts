// The configuration of the contract tests.
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: import.meta.dirname,
  test: {
    globalSetup: "./global-setup.ts",
    include: ["**/*.test.ts"],
    environment: "node",
    // Long enough for a busy machine; a failing test ends at once.
    testTimeout: 180_000, // longer than several waits of one test
    expect: { poll: { timeout: 45_000 } },
    hookTimeout: 300_000, // the first PostgreSQL database waits for its server, which Go may have to compile
    maxWorkers: 2, // parallel files; each has its own servers and databases
  },
});
