import { defineConfig } from "vitest/config";

/** Real clients, offline, against a scripted model: `npm run test:clients`, with POND_CLIENTS. */
export default defineConfig({
  test: {
    include: ["test/clients/**/*.test.ts"],
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000,
    disableConsoleIntercept: true,
  },
});
