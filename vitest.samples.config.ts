import { defineConfig } from "vitest/config";

/** The proof over real session files: `npm run test:samples`, with POND_SAMPLES or the shared folder. */
export default defineConfig({
  test: {
    include: ["test/samples/**/*.test.ts"],
    maxWorkers: 2,
    testTimeout: 600_000,
    disableConsoleIntercept: true,
  },
});
