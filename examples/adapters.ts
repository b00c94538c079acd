/** An adapter for Tinker, a made-up client that writes `~/.tinker/sessions/<session id>.jsonl`; synced, verified, restored. */
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openPond } from "pond-db";
import * as kit from "pond-db/adapters";
import { isJsonObject } from "pond-db/json";
import { sessionId } from "pond-db/model";
import type { Extracted, Session, Timestamp } from "pond-db/model";

const NAME = "tinker";

/** What its records are: reading takes these fields out, restoring puts them back, the rest stays as it is. */
const SHAPES: kit.RecordShapes = {
  id: "id",
  parent: "parent",
  timestamp: "at",
  kind: "type",
  turn: (record) => TURNS.get(kit.extractString(record, "type") ?? ""),
  blocks: [
    { part: "tool_call", id: "/call/id", name: "/call/name", params: "/call/args" },
    {
      part: "tool_result",
      id: "/result/id",
      name: "/result/name",
      result: "/result/output",
      // A flag that says that it failed; for exit codes and `success` there is extractFailureByStatus.
      failure: (block) => kit.extractBoolean(kit.objectField(block, "result") ?? {}, "failed"),
    },
    { part: "text", text: "/text" },
  ],
};

const TURNS = new Map<string, kit.TurnShape>([
  ["user", { role: "user", blocks: "/content" }],
  // Provenance: nobody typed a reminder, and no model said what a tool returned.
  ["reminder", { role: "user", blocks: "/content", injected: () => () => ({ kind: "reminder" }) }],
  ["assistant", { role: "assistant", blocks: "/content" }],
  ["tool", { role: "tool", blocks: "/content", injected: () => () => ({ kind: "tool" }) }],
]);

/** Reads ahead until a record says whose log it is. */
class Head implements kit.LogHead {
  id: Extracted<string> | undefined;
  directory: Extracted<string> | undefined;
  instant: Timestamp | undefined;
  hasContent = false;

  get isComplete(): boolean {
    return this.id !== undefined && this.directory !== undefined && this.instant !== undefined;
  }

  get isSession(): boolean {
    return this.id !== undefined;
  }

  see(items: readonly kit.JsonlItem[]): boolean {
    for (const item of items) {
      this.hasContent ||= item.kind !== "tail";
      if (item.kind !== "record" || !isJsonObject(item.value)) continue;
      this.id ??= kit.extractName(item.value, "session");
      this.directory ??= kit.extractName(item.value, "cwd");
      this.instant ??= kit.extractTimestamp(item.value, "at");
    }
    return this.isComplete;
  }
}

function sessionOf({ unit, place, head, fileTime, known }: kit.LogEvidence<Head>): Session {
  // A log that does not say its id gets one that no other log has.
  const id = known ?? head.id ?? kit.copyId("unnamed", kit.nameOfSource(place, unit.key));
  return {
    id: sessionId(id),
    source_agent: NAME,
    created_at: head.instant ?? fileTime,
    project: head.directory ?? kit.extractFromPath(place.path),
    options: { source: { path: unit.key } },
  };
}

const read = kit.logReader({
  adapter: NAME,
  prefix: { adapter: NAME, version: 1 },
  head: () => new Head(),
  session: sessionOf,
  mapper: (log, _head, before) => new kit.ShapedRecords(log, SHAPES, before),
  waitsFor: "no record with a session, a directory and an instant is written yet",
  notASession: "no record of this file names a session",
});

const native: kit.NativeLogs = {
  record: (group) => kit.shapedRecord(group, SHAPES),
  clientPath: ({ id }) => `${id}.jsonl`,
  withMappedPaths: (record, mapPath) => {
    const directory = kit.extractString(record, "cwd");
    return directory === undefined ? record : { ...record, cwd: mapPath(directory) };
  },
  resume: (id) => ({ words: ["tinker", "--resume", id] }),
};

export const tinker: kit.Adapter = {
  name: NAME,
  title: "Tinker",
  defaultPlaces: ({ home }) => [{ path: join(home, ".tinker", "sessions"), origin: "default" }],
  open: (place) =>
    kit.openPlace(place, {
      units: (at, signal) =>
        kit.unitsPerFile(at, { adapter: NAME, accepts: (name) => name.endsWith(".jsonl"), signal }),
      load: async () => read,
    }),
  reportsSpans: true,
  restore: {
    kind: "supported",
    insteadOfForeign: "restore it into another client",
    serialize: async (lineage, options) => kit.serializeLogs(lineage, options, native),
    hashes: async (state) => kit.logHashes(state, native),
    context: async () => (messages) => ({ messages }),
    present: async (id, { place }) => {
      const path = join(place.path, `${id}.jsonl`);
      return (await stat(path).catch(() => undefined)) === undefined ? [] : [{ path }];
    },
  },
};

// A session as Tinker would have left it.
const folder = process.argv[2] ?? "pond-example";
const home = join(folder, "tinker-home");
const at = (second: number): string => `2026-01-02T03:04:0${second}Z`;
const text = (said: string): object => ({ text: said });
const call = { id: "c1", name: "bash", args: { command: "npm test" } };
const result = { id: "c1", name: "bash", output: "1 of 3 failed", failed: true };
const log = [
  { type: "start", id: "r0", parent: null, at: at(0), session: "tinker-1", cwd: "/shop", version: 7 },
  { type: "user", id: "r1", parent: "r0", at: at(1), content: [text("Why is the kettle cold?")] },
  { type: "reminder", id: "r2", parent: "r1", at: at(1), content: [text("Today is Friday.")] },
  { type: "assistant", id: "r3", parent: "r2", at: at(2), content: [text("I look."), { call, ms: 4 }] },
  { type: "tool", id: "r4", parent: "r3", at: at(3), content: [{ result }] },
];
await mkdir(join(home, ".tinker", "sessions"), { recursive: true });
const lines = log.map((record) => `${JSON.stringify(record)}\n`).join("");
await writeFile(join(home, ".tinker", "sessions", "tinker-1.jsonl"), lines);

// Into pond and back.
const where = { store: `${folder}/tinker-store`, state: `${folder}/tinker-state`, home, env: {} };
await using pond = await openPond({ ...where, adapters: [tinker] });
const only = { adapters: [NAME] };
const { clients } = await pond.sync(only);
console.log(`${clients[0]?.stored.messages.inserted} messages stored`);
const found = await pond.search({ query: "kettle", filters: { source_agent: NAME } });
console.log(`found: ${found.sessions[0]?.matches[0]?.text}`);
const verified = await pond.verify(only);
console.log(`${verified.clients[0]?.equal} of ${verified.clients[0]?.records} records restore equal`);
for (const to of [NAME, "claude-code"]) {
  const out = `${folder}/${to}-restored`;
  const { fidelity, resume } = await pond.restore({ session_id: "tinker-1", to, out });
  console.log(`${to}, ${fidelity}: ${resume.command}`);
}
