import { defineConfig } from "vitest/config";

/**
 * Real clients, offline, against a scripted model: `npm run test:clients`, with POND_CLIENTS. Each test runs with the pinned
 * versions and with the newest; `--project newest` runs only these.
 */
export default defineConfig({
  test: {
    maxWorkers: 1,
    fileParallelism: false,
    projects: ["pinned", "newest"].map((name) => ({
      test: {
        name,
        env: { POND_CLIENT_SET: name },
        include: ["test/clients/**/*.test.ts"],
        testTimeout: 300_000,
        disableConsoleIntercept: true,
      },
    })),
  },
});
