/** An adapter as a program outside would write it, with what `pond-db/adapters` gives: records say `id`, `at`, `session`, `cwd`. */
import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { isJsonObject } from "../../src/base/json/json.ts";
import * as kit from "../../src/library/adapters.ts";
import { sessionId } from "../../src/library/model.ts";
import type { Extracted, Timestamp } from "../../src/library/model.ts";

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

const SHAPES: kit.RecordShapes = {
  id: "id",
  parent: "parent",
  timestamp: "at",
  kind: "type",
  turn: () => ({ role: "user", blocks: "/content" }),
  blocks: [{ part: "text", text: "/text" }],
};

/** Its sessions are in `~/.<name>`; a table of its own says what their records are. */
export function programAdapter(name: string, table: Partial<kit.RecordShapes> = {}): kit.Adapter {
  const shapes: kit.RecordShapes = { ...SHAPES, ...table };
  const native: kit.NativeLogs = {
    record: (group) => kit.shapedRecord(group, shapes),
    clientPath: ({ id }) => `${id}.jsonl`,
    withMappedPaths: (record) => record,
    resume: (id) => ({ words: ["open", id] }),
  };
  const read = kit.logReader({
    adapter: name,
    prefix: { adapter: name, version: 1 },
    head: () => new Head(),
    session: ({ unit, head, fileTime, known }) => ({
      id: sessionId(known ?? head.id ?? unit.key),
      source_agent: name,
      created_at: head.instant ?? fileTime,
      project: head.directory ?? kit.extractFromPath(unit.key),
      options: { source: { path: unit.key } },
    }),
    mapper: (log, _head, before) => new kit.ShapedRecords(log, shapes, before),
    waitsFor: "no head is written yet",
    notASession: "no record names a session",
  });
  return {
    name,
    title: `The ${name}`,
    defaultPlaces: ({ home }) => [{ path: join(home, `.${name}`), origin: "default" }],
    open: (place) =>
      kit.openPlace(place, {
        units: (at, signal) =>
          kit.unitsPerFile(at, { adapter: name, accepts: (file) => file.endsWith(".jsonl"), signal }),
        load: () => Promise.resolve(read),
      }),
    reportsSpans: true,
    restore: {
      kind: "supported",
      insteadOfForeign: "restore it into another client",
      serialize: (lineage, options) => Promise.resolve(kit.serializeLogs(lineage, options, native)),
      hashes: (state) => Promise.resolve(kit.logHashes(state, native)),
      context: () => Promise.resolve((messages) => ({ messages })),
      present: (id, { place }) => {
        const path = join(place.path, `${id}.jsonl`);
        return Promise.resolve(existsSync(path) ? [{ path }] : []);
      },
    },
  };
}

/** Adds a turn to a session of the client; returns the path of its log. */
export function writeTurn(home: string, name: string, { session, text }: Turn): string {
  return writeRecord(home, name, { session, content: [{ text }] });
}

/** The same for a record of any shape. */
export function writeRecord(home: string, name: string, given: WrittenRecord): string {
  const path = join(home, `.${name}`, `${given.session}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const record = { type: "user", at: "2026-01-02T03:04:05Z", cwd: "/shop", ...given };
  appendFileSync(path, `${JSON.stringify(record)}\n`);
  return path;
}

interface WrittenRecord {
  readonly session: string;
  readonly [field: string]: unknown;
}

interface Turn {
  readonly session: string;
  readonly text: string;
}
