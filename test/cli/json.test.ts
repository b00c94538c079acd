/** `--json` of every verb: one document, keys and instants as on the wire (spec.md#cli-output), errors in one shape. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT as VERBS } from "../../src/cli/verbs.ts";
import { errorBodySchema } from "../../src/wire/schema.ts";
import { TempHome } from "./pond.ts";

const SESSION = "7b0c5a52";
let home: TempHome;

beforeAll(async () => {
  home = new TempHome();
  home.addDemoSessions();
  await home.pond(["sync", "--quiet"]);
}, 60_000);
afterAll(() => home[Symbol.dispose]());

const SYNC = "clients dry_run elapsed_ms embed indexes interrupted notes took";

const ANSWERS: readonly (readonly [line: string, keys: string])[] = [
  ["", "help"],
  ["sync --help", "help"],
  ["help config show", "help"],
  ["--version", "version"],
  ["sync", SYNC],
  ["sync --dry-run", SYNC],
  ["sync --only update-indexes", SYNC],
  [
    "search invoice --limit 1",
    "has_more matched_total matched_total_exact mode next_cursor searchable_in_scope sessions vectors",
  ],
  ["search invoice --explain", "plan ranked vectors"],
  ["sessions --limit 1", "has_more next_cursor sessions total"],
  [
    `get ${SESSION}`,
    "children children_remaining hidden messages messages_before messages_remaining response_mode scope session session_from",
  ],
  [
    `get ${SESSION}-1f0e-4a57-9d3b-000000000000`,
    "context_depth scope session siblings siblings_before target target_parts target_parts_remaining",
  ],
  ["status", "bytes clients embeddings exists last_sync messages pending projects sessions store tables"],
  ["adapters", "adapters"],
  [
    `restore ${SESSION} --to pi --out restored`,
    "fidelity files losses missing_map_paths out proven resume session_id sessions state to tokens unproven unused_map_paths",
  ],
  [
    `resume ${SESSION} --in pi --dry-run --map-path /home/demo/projects/checkout=/tmp`,
    "dry_run fidelity files losses missing_map_paths out proven resume session_id sessions state to tokens unproven unused_map_paths",
  ],
  ["verify", "clients"],
  ["verify --stored", "clients files"],
  ["doctor", "findings"],
  ["repair", "clients damage done left notes remains rows stored unproven"],
  ["init --yes", "changed clients config_exists config_file store"],
  ["config show", "file settings"],
  ["config path", "exists path"],
  ["config schema", "$schema additionalProperties properties title type"],
  ["completions bash", "script shell"],
  ["demo", "steps"],
];

test("no verb is left out here", () => {
  const verbs = new Set(ANSWERS.map(([line]) => line.split(" ")[0]));
  expect(VERBS.subcommands?.map(({ name }) => name).filter((name) => !verbs.has(name))).toEqual([]);
});

test.each(ANSWERS)(
  "pond %s answers with one document of known keys",
  { timeout: 300_000 },
  async (line, keys) => {
    const words = line === "" ? [] : line.split(" ");
    const { code, stdout, stderr } = await home.pond([...words, "--json", "--quiet"]);
    const { refused, ...document } = JSON.parse(stdout) as { readonly refused?: object };
    // A resume would be refused where its client is not installed.
    expect([code, stderr]).toEqual([refused === undefined ? 0 : 1, ""]);
    expect(refused === undefined || words[0] === "resume").toBe(true);
    expect(Object.keys(document).toSorted().join(" ")).toBe(keys);
    if (words[1] === "schema") return; // its keys are those of JSON Schema
    const wrong: string[] = [];
    for (const [path, value] of valuesBelow(document)) {
      const key = path.split(".").at(-1) ?? "";
      if (!/^[a-z][a-z0-9_]*$/.test(key) && key !== "update-indexes") wrong.push(path);
      // Milliseconds since 1970 are no instant to a reader.
      if (typeof value === "number" && value > 1e12) wrong.push(`${path} = ${value}`);
      if (value === null) wrong.push(`${path} = null`);
    }
    expect(wrong).toEqual([]);
  },
);

test.each([
  "nonsense",
  "sync --nonsense",
  "get nobody",
  "restore nobody",
  "search -- ''",
  "sync --only import --skip import",
])("pond %s fails with the error body of the wire, on stderr", async (line) => {
  const { code, stdout, stderr } = await home.pond(["--json", ...line.split(" ")]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(errorBodySchema.safeParse(JSON.parse(stderr)).error).toBeUndefined();
});

test("what was restored is there", () => {
  expect(existsSync(join(home.path, "restored"))).toBe(true);
  expect(readFileSync(join(home.path, ".config/pond/config.toml"), "utf8")).toContain("[storage]");
});

function* valuesBelow(value: unknown, path = ""): Generator<readonly [path: string, value: unknown]> {
  if (Array.isArray(value)) for (const each of value) yield* valuesBelow(each, path);
  else if (typeof value === "object" && value !== null)
    for (const [key, each] of Object.entries(value)) {
      yield [`${path}.${key}`, each];
      // What stands below these is the source's own, or keyed by the source's names.
      if (!["options", "params", "result"].includes(key)) yield* valuesBelow(each, `${path}.${key}`);
    }
}
