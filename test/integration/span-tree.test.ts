/** Trees read from the files of clients (spec.md#live-staged-tree-spans). */
import { appendFile, cp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed, hasSpans, openSpanTree } from "../../src/adapters/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { SpanAdapter, SpanTree } from "../../src/adapters/index.ts";
import type { MessagePlan, PlanNode } from "../../src/model/tree/index.ts";
import {
  hydrateTree,
  lineageOf,
  loadTree,
  planTree,
  resolveTree,
  sessionsIn,
  stateOf,
} from "../../src/model/tree/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { sessionId } from "../../src/model/index.ts";
import { LATER, listUnits, NOWHERE, placeAt, readFolder } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import { tempStore } from "../support/temp-store.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/adapters");
const CLAUDE_LOG = "-tmp-pond-fixture-demo-app/42a619cc-bb76-46e4-81e9-08563bb4c708";

describe.each([
  ["claude-code", "claude-code/projects"],
  ["codex-cli", "codex-cli/home"],
  ["pi", "pi/sessions"],
])("%s", (name, folder) => {
  const root = join(FIXTURES, folder);

  test("every session of the fixture comes out of its files as it was read", async () => {
    const adapter = spanAdapter(name);
    const events = (await readFolder(adapter, root)).flatMap((run) => run.events);
    const tree = await treeOf(adapter, root);
    const expected = replay(events);
    expect(expected.length).toBeGreaterThan(5);
    for (const state of expected) {
      const loaded = await loadTree(tree, state.session.id, { depth: 0 });
      expect(loaded.issues.filter(({ kind }) => kind !== "cut")).toEqual([]);
      expect(stateOf(loaded.value)).toEqual(state);
    }
  });
});

test("files and store give the same lineage", async () => {
  const { tree, root } = await copyOfFixture();
  await using store = await tempStore();
  const events = (
    await readFolder(spanAdapter("claude-code"), join(FIXTURES, "claude-code/projects"))
  ).flatMap((run) => run.events);
  const ingest = store.sessions.ingest({ clock: systemClock });
  await ingest.add(events);
  await ingest.flush();
  const fromFiles = await loadTree(tree, root);
  const fromStore = await loadTree(store.sessions.tree(), root);
  expect([...fromFiles.issues, ...fromStore.issues]).toEqual([]);
  const lineage = lineageOf(fromFiles.value)!;
  expect([...sessionsIn(lineage)].map(({ state }) => state.messages.length)).toEqual([45, 7]);
  // A clone, because Node reads files into buffers and the engine gives plain bytes.
  expect(structuredClone(lineage)).toEqual(lineageOf(fromStore.value));
  const outline = ({ id, seq, timestamp, role, parts }: MessagePlan): unknown => [
    id,
    seq,
    timestamp,
    role,
    // Without their references.
    structuredClone(parts),
  ];
  expect(fromFiles.value.plan.messages.map(outline)).toEqual(fromStore.value.plan.messages.map(outline));
});

test("a client without byte spans is told by its type", () => {
  expect(hasSpans(adapterNamed("opencode")!)).toBe(false);
});

describe("the files of one session", () => {
  test("children stand below it, and a plan counts the bytes of its records", async () => {
    const { tree, root } = await copyOfFixture();
    const { value, issues } = await planTree(tree, root);
    expect(issues).toEqual([]);
    expect(value.children.map(({ id }) => id)).toEqual([`${root}/agent-afbdf13c1efd361ed`]);
    const [first] = value.messages;
    expect(first?.bytes).toBeGreaterThan(20);
    expect(value.messages.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(value.total?.bytes);
  });

  test("hydrating reads again the spans that were chosen, and no others", async () => {
    await using folder = await tempDir();
    const { tree, root, log } = await copyOfFixture(folder.path);
    const refs = await resolveTree(tree, (await planTree(tree, root)).value);
    const [kept, spoiled] = refs.value.plan.messages.filter(({ role }) => role === "assistant");
    const { offset, end } = refs.value.leaves.get(spoiled!)!.ref.span;
    await overwrite(log, { from: offset, bytes: Buffer.alloc(end - offset - 1, "x") });
    const one = await hydrateTree(tree, refs.value, (node) => node === kept);
    expect(one.issues).toEqual([]);
    expect(one.value.messages.flatMap(({ message }) => message?.id ?? [])).toEqual([kept?.id]);
    const both = await hydrateTree(tree, refs.value, (node) => node === kept || node === spoiled);
    expect(both.issues).toMatchObject([{ stage: "hydrate", kind: "changed", key: { id: spoiled?.id } }]);
  });

  test.each([
    ["grew", (log: string) => appendFile(log, "{}\n"), "changed"],
    ["was replaced", async (log: string) => replace(log), "changed"],
    ["is gone", (log: string) => rm(log), "missing"],
  ])("a log that %s gives issues and no values", async (_, change, kind) => {
    await using folder = await tempDir();
    const { tree, root, log } = await copyOfFixture(folder.path);
    const refs = await resolveTree(tree, (await planTree(tree, root, { depth: 0 })).value);
    await change(log);
    const { value, issues } = await hydrateTree(tree, refs.value, (node) => !isSideFile(node));
    expect(value.session).toBeUndefined();
    expect(value.messages.filter(({ message }) => message !== undefined)).toEqual([]);
    expect(new Set(issues.map((issue) => issue.kind))).toEqual(new Set([kind]));
    expect(issues.length).toBe([...refs.value.leaves.keys()].filter((node) => !isSideFile(node)).length);
  });

  test("a file beside the log that changed spoils itself and the session's head, not the log", async () => {
    await using folder = await tempDir();
    const { tree, child, meta } = await copyOfFixture(folder.path);
    const refs = await resolveTree(tree, (await planTree(tree, child)).value);
    await writeFile(meta, "{}");
    const { value, issues } = await hydrateTree(tree, refs.value);
    expect(value.session).toBeUndefined();
    const told = value.messages.filter(({ message }) => message !== undefined);
    expect(told.length).toBe(value.messages.length - 1);
    expect(issues.map((issue) => issue.kind)).toEqual(["changed", "changed", "changed"]);
  });
});

function spanAdapter(name: string): SpanAdapter {
  const adapter = adapterNamed(name)!;
  if (!hasSpans(adapter)) throw new Error(`${name} tells no spans`);
  return adapter;
}

async function treeOf(adapter: SpanAdapter, root: string): Promise<SpanTree> {
  const { units } = await listUnits(adapter, root);
  return openSpanTree(adapter, units, { place: placeAt(root), machine: NOWHERE, now: LATER });
}

/** The fixture's session with a subagent; its files copied where a test means to change them. */
async function copyOfFixture(into?: string) {
  const fixture = join(FIXTURES, "claude-code/projects");
  const place = into ?? fixture;
  if (into !== undefined) await cp(fixture, into, { recursive: true });
  const base = join(place, CLAUDE_LOG);
  const log = `${base}.jsonl`;
  // Whole seconds, so that a test can put the file's time back exactly.
  if (into !== undefined) await utimes(log, 1_700_000_000, 1_700_000_000);
  const root = sessionId("42a619cc-bb76-46e4-81e9-08563bb4c708");
  return {
    tree: await treeOf(spanAdapter("claude-code"), place),
    root,
    child: sessionId(`${root}/agent-afbdf13c1efd361ed`),
    log,
    meta: join(base, "subagents/agent-afbdf13c1efd361ed.meta.json"),
  };
}

/** Changes bytes in place, and nothing that `stat` could tell. */
async function overwrite(path: string, { from, bytes }: { from: number; bytes: Uint8Array }): Promise<void> {
  const data = await readFile(path);
  data.set(bytes, from);
  await writeFile(path, data);
  await utimes(path, 1_700_000_000, 1_700_000_000);
}

/** The same bytes in another file. */
async function replace(path: string): Promise<void> {
  const data = await readFile(path);
  await rm(path);
  await writeFile(path, data);
}

const isSideFile = (node: PlanNode): boolean =>
  node.id.startsWith("file:") || ("message_id" in node && node.message_id.startsWith("file:"));
