/** Claude Code against the shared conformance harness. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import { prove } from "../samples/prove.ts";
import { samplesOf } from "../support/samples.ts";
import { conformance } from "./harness.ts";

const adapter = adapterNamed("claude-code")!;

const SMALL = "C--dev-demo-v2/33333333-3333-4333-8333-333333333333.jsonl";
const CAPTURED = "-tmp-pond-fixture-demo-app/103a5822-0f45-44b0-95ae-0e4884e28132.jsonl";

conformance({
  adapter,
  root: join(import.meta.dirname, "../fixtures/adapters/claude-code/projects"),
  expected: {
    units: 14,
    sessions: 13,
    messages: 235,
    parts: 160,
    children: 5,
    issues: { duplicate_keys: 1, glued_records: 1, invalid_utf8: 1, not_json: 1 },
  },
  logs: { everyByte: SMALL, atRecords: CAPTURED },
  roundTrip: true,
});

const samples = samplesOf("claude-code");

describe.skipIf(samples === undefined)("some of the real files", () => {
  test("restore equal", async () => {
    const proof = await prove(adapter, samples!, (key) => key.startsWith("obra+episodic-memory/"));
    expect({ unequal: proof.unequal, violations: proof.violations }).toEqual({ unequal: [], violations: [] });
    expect(proof.records).toBeGreaterThan(500);
  });
});
