/** Claude Code against the shared conformance harness. */
import { join } from "node:path";
import { adapterNamed } from "../../src/adapters/index.ts";
import { conformance } from "./harness.ts";

const SMALL = "C--dev-demo-v2/33333333-3333-4333-8333-333333333333.jsonl";
const CAPTURED = "-tmp-pond-fixture-demo-app/103a5822-0f45-44b0-95ae-0e4884e28132.jsonl";

conformance({
  adapter: adapterNamed("claude-code")!,
  root: join(import.meta.dirname, "../fixtures/adapters/claude-code/projects"),
  expected: {
    units: 14,
    sessions: 13,
    messages: 234,
    parts: 157,
    children: 5,
    issues: { duplicate_keys: 1, glued_records: 1, invalid_utf8: 1, not_json: 1 },
  },
  logs: { everyByte: SMALL, atRecords: CAPTURED },
  roundTrip: true,
});
