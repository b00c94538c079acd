/** Codex against the shared conformance harness. */
import { join } from "node:path";
import { adapterNamed } from "../../src/adapters/index.ts";
import { conformance } from "./harness.ts";

const SMALL = "sessions/2026/01/02/rollout-2026-01-02T03-04-05-44444444-4444-4444-8444-444444444444.jsonl";
const CAPTURED = "sessions/2026/11/16/rollout-2026-11-16T00-51-57-01a1e1d6-dc28-7033-8d22-b4de37cc0373.jsonl";

conformance({
  adapter: adapterNamed("codex-cli")!,
  root: join(import.meta.dirname, "../fixtures/adapters/codex-cli/home"),
  expected: {
    units: 17,
    sessions: 16,
    messages: 438,
    parts: 188,
    children: 6,
    issues: { duplicate_keys: 1, glued_records: 1, invalid_utf8: 1, not_json: 1 },
  },
  logs: { everyByte: SMALL, atRecords: CAPTURED },
  roundTrip: true,
});
