import { defineConfig } from "vitest/config";

export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ["**/*.test.ts"],
    environment: "node",
    testTimeout: 20_000,
    hookTimeout: 90_000, // the first PostgreSQL database waits for its server
    maxWorkers: 2, // files side by side; each has servers and databases of its own
  },
});
