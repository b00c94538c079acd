/** pi against the shared conformance harness. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import { prove } from "../samples/prove.ts";
import { samplesOf } from "../support/samples.ts";
import { foreignGolden } from "./foreign.ts";
import { conformance } from "./harness.ts";

const SMALL = "--srv-demo--/2026-02-01T10-00-00-000Z_0193a000-0000-7000-8000-000000000001.jsonl";
const CAPTURED = "01a1e1d0-8d21-70bd-9619-b545abc296ea";

const adapter = adapterNamed("pi")!;

conformance({
  adapter,
  root: join(import.meta.dirname, "../fixtures/adapters/pi/sessions"),
  expected: {
    units: 16,
    sessions: 15,
    messages: 171,
    parts: 114,
    children: 3,
    issues: { duplicate_keys: 1, glued_records: 1, invalid_utf8: 1, not_json: 1, unexpected_shape: 1 },
  },
  logs: { everyByte: SMALL, atRecords: `--tmp-pond-garden--/2026-11-16T00-45-03-650Z_${CAPTURED}.jsonl` },
  roundTrip: true,
});

describe("pi and other clients", () => {
  foreignGolden({ from: "pi", place: "sessions", session: CAPTURED, to: "claude-code" });
  foreignGolden({ from: "pi", place: "sessions", session: CAPTURED, to: "codex-cli" });
  foreignGolden({
    from: "claude-code",
    place: "projects",
    session: "42a619cc-bb76-46e4-81e9-08563bb4c708",
    to: "pi",
  });
  foreignGolden({
    from: "codex-cli",
    place: "home",
    session: "01a1e1d6-dc28-7033-8d22-b4de37cc0373",
    to: "pi",
  });
});

const samples = samplesOf("pi");

describe.skipIf(samples === undefined)("some of the real files", () => {
  test("restore equal", async () => {
    const proof = await prove(adapter, samples!, (key) => key.startsWith("raquezha+pi.dev/entire/"));
    expect({ unequal: proof.unequal, violations: proof.violations }).toEqual({ unequal: [], violations: [] });
    expect(proof.records).toBeGreaterThan(1000);
  });
});
