import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Real session files and real clients are not part of the project: they have commands of their own.
    exclude: ["test/samples/**", "test/clients/**"],
    // Two cores: more workers only fight over them.
    maxWorkers: 2,
    // Tests start some hundred processes from TypeScript: each took 0.18 s of CPU to load the rooms, and takes 0.04.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/pond-tests", import.meta.url)) },
    // For tests that hang. None of them measures time, and a busy machine takes ten times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
