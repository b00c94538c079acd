import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Real session files and real clients are not part of the project: they have commands of their own.
    exclude: ["test/samples/**", "test/clients/**"],
    // Two cores: more workers only fight over them.
    maxWorkers: 2,
    // For tests that hang. None of them measures time, and a busy machine takes ten times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
