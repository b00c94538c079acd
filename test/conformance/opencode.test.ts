/** opencode against the shared conformance harness: a data folder, trees of both eras, exports, and hostile ones. */
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import { prove } from "../samples/prove.ts";
import { samplesOf } from "../support/samples.ts";
import { foreignGolden } from "./foreign.ts";
import { conformance } from "./harness.ts";

const adapter = adapterNamed("opencode")!;

const ROOT = join(import.meta.dirname, "../fixtures/adapters/opencode");

/** Superseded by the database, where no client puts a file, or no export: each is told otherwise. */
const NOT_BACK =
  /^data\/storage\/(session\/|message|part|migration)|part\/prt_flat|exports\/(export-of|package)/;

conformance({
  adapter,
  root: ROOT,
  expected: {
    units: 14,
    sessions: 16,
    messages: 141,
    parts: 297,
    children: 3,
    issues: { duplicate_keys: 1, invalid_utf8: 1, not_json: 5, unexpected_shape: 2 },
  },
  roundTrip: true,
  restores: readdirSync(ROOT, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((path) => !NOT_BACK.test(path)),
});

describe("opencode and other clients", () => {
  const session = "ses_e1dfc6e09ffe3lAwy288LtSjGi";
  for (const to of ["claude-code", "codex-cli", "pi"])
    foreignGolden({ from: "opencode", place: "data", session, to });
  foreignGolden({
    from: "claude-code",
    place: "projects",
    session: "42a619cc-bb76-46e4-81e9-08563bb4c708",
    to: "opencode",
  });
  foreignGolden({
    from: "codex-cli",
    place: "home",
    session: "01a1e1d6-bf5e-7902-8eb6-c6db4b0f3477",
    to: "opencode",
  });
});

const samples = samplesOf("opencode");

describe.skipIf(samples === undefined)("some of the real files", () => {
  test("restore equal", async () => {
    const proof = await prove(adapter, samples!, (key) => /^(jwp23|tuist|nivalis)/.test(key));
    expect({ unequal: proof.unequal, violations: proof.violations }).toEqual({ unequal: [], violations: [] });
    expect(proof.records).toBeGreaterThan(100);
  });
});
