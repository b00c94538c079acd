import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Rooms without the engine and without state of their own: their tests share what they load. */
const PURE = "src/{adapters,base,cli,config,model,search,state,wire}/**/*.test.ts";

export default defineConfig({
  test: {
    // Real session files and real clients are not part of the project: they have commands of their own.
    exclude: ["test/samples/**", "test/clients/**"],
    // Two cores: more workers only fight over them.
    maxWorkers: 2,
    // Tests start some hundred processes from TypeScript: each took 0.18 s of CPU to load the rooms, and takes 0.04.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/pond-tests", import.meta.url)) },
    // For tests that hang. None of them measures time, and a busy machine takes ten times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: [
      // A process for each of 70 small files took 57 s of CPU; two for all take 26.
      { extends: true, test: { name: "pure", include: [PURE], isolate: false } },
      // With the engine the memory of one process grows, and that costs as much as new ones.
      {
        extends: true,
        test: {
          name: "whole",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [PURE, "test/samples/**", "test/clients/**"],
        },
      },
    ],
  },
});
