/** How ./pond runs a process, for benchmarks that run one themselves. */
export const LAUNCHER_ENV = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_TRIM_THRESHOLD_: "67108864",
  MALLOC_MMAP_THRESHOLD_: "16777216",
};
export const LAUNCHER_FLAGS = ["--max-semi-space-size=8"] as const;
/** What bin/pond.js sets by itself. */
export const ENTRY_FLAGS = ["--heap-growing-percent=100"] as const;
