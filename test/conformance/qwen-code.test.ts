/** Qwen Code against the shared conformance harness. */
import { join } from "node:path";
import { describe } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import { foreignGolden } from "./foreign.ts";
import { conformance } from "./harness.ts";

const SMALL = "-srv-demo/chats/0193a000-0000-7000-8000-000000000001.jsonl";
const CAPTURED = "6e580a6d-18fa-4cd9-a8ba-4b9c365437b8";

conformance({
  adapter: adapterNamed("qwen-code")!,
  root: join(import.meta.dirname, "../fixtures/adapters/qwen-code/projects"),
  expected: {
    units: 12,
    sessions: 11,
    messages: 134,
    parts: 110,
    children: 3,
    issues: { duplicate_keys: 1, glued_records: 1, invalid_utf8: 1, not_json: 1, unexpected_shape: 2 },
  },
  logs: { everyByte: SMALL, atRecords: `-tmp-pond-orchard/chats/${CAPTURED}.jsonl` },
  roundTrip: true,
});

describe("Qwen Code and other clients", () => {
  for (const to of ["claude-code", "codex-cli", "opencode", "pi"])
    foreignGolden({ from: "qwen-code", place: "projects", session: CAPTURED, to });
});
