/**
 * Canonical sessions to Codex's files (spec.md#adapter-restore): a whole lineage, natively or as a foreigner. Natively
 * each session is the rollout it came from, record by record (spec.md#adapter-native-restore-lossless). Only what ties a file to its place is set anew when it goes to another one: mapped directories, and where a fork's
 * prefix ends in its parent's file, counted in the bytes that are written now.
 */
import type { RawLine } from "../../kit/files/index.ts";
import { brandOf } from "../../../model/derived/index.ts";
import { formatTimestamp } from "../../../model/index.ts";
import { basename } from "node:path/posix";
import { argumentWords } from "../../../base/shell.ts";
import { PondError } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject, stringifyJson } from "../../../base/json/json.ts";
import type { SessionState } from "../../../model/events/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import type { Restored, RestoredFile, RestoredLog, SerializeOptions } from "../../kit/restore/index.ts";
import { field, integerField, objectField } from "../../kit/extract/index.ts";
import { isRawLine } from "../../kit/files/index.ts";
import { LossReport } from "../../kit/foreign/index.ts";
import { recordedDirectories, RestoredFiles } from "../../kit/restore/index.ts";
import { ADAPTER, isDocument, parseRolloutName, rolloutPath, SESSION_INDEX, TITLE_LOSS } from "../layout.ts";
import { serializeForeign } from "./foreign.ts";
import { recordsOf } from "./native.ts";

type Records = readonly (JsonValue | RawLine)[];

export function serialize(lineage: Lineage, options: SerializeOptions): Restored {
  return options.fidelity === "native"
    ? serializeNative(lineage, options)
    : serializeForeign(lineage, options);
}

function serializeNative(lineage: Lineage, options: SerializeOptions): Restored {
  const losses = new LossReport();
  const restored = new Map<string, Records>();
  const files = new RestoredFiles();
  const logs: RestoredLog[] = [];
  // A parent comes before its children, so that a fork finds the file that it goes on from.
  for (const state of statesOf(lineage)) {
    const records = recordsOf(state);
    const isMoved = options.layout === "client";
    const placed = isMoved ? placedIn(records, { state, restored, options, losses }) : records;
    const { id } = state.session;
    restored.set(id, placed);
    const file = fileOf(isMoved ? clientPath(state, records) : pathOf(state), placed);
    logs.push({ path: files.add(file, id), session: id });
  }
  const { session } = lineage.state;
  const id = threadIdIn(restored.get(session.id) ?? []) ?? session.id;
  // As its own records tell it: those of another source may tell another.
  const [directory = session.project] = recordedDirectories(lineage.state).map(options.mapPath);
  const resume = { id, directory, words: ["codex", "resume", ...argumentWords(id)] };
  return { fidelity: "native", files: files.list(), logs, losses: losses.list(), resume };
}

function statesOf({ state, children }: Lineage): SessionState[] {
  const { id, source_agent } = state.session;
  if (brandOf(source_agent) !== ADAPTER)
    throw new PondError("validation_failed", `session ${id} is of ${source_agent}, not of ${ADAPTER}`, {
      reason: "unsupported",
      hint: "restore it on its own, or all of them into another client",
    });
  return [state, ...children.flatMap(statesOf)];
}

function fileOf(path: string, records: Records): RestoredFile {
  if (!isDocument(path)) return { kind: "jsonl", path, records };
  const [head, ...items] = records.flatMap((record) => (isRawLine(record) ? [] : [record]));
  return { kind: "json", path, value: { ...(isJsonObject(head) ? head : undefined), items } };
}

function pathOf({ session, source }: SessionState): string {
  const path = source?.key ?? objectField(session.options, "source")?.["path"];
  if (typeof path === "string") return path;
  throw new PondError("validation_failed", `session ${session.id} does not say which file it came from`, {
    reason: "corrupt",
  });
}

/** Where the client looks: where it stood if that was in a home, else the folder of its day. */
function clientPath(state: SessionState, records: Records): string {
  const path = pathOf(state);
  if (path === SESSION_INDEX || /^(?:archived_)?sessions\//.test(path)) return path;
  const started = formatTimestamp(state.session.created_at);
  const name = basename(path);
  const folder = `sessions/${started.slice(0, 10).replaceAll("-", "/")}`;
  if (parseRolloutName(name) !== undefined) return `${folder}/${name}`;
  return rolloutPath(threadIdIn(records) ?? state.session.id, started);
}

function threadIdIn(records: Records): string | undefined {
  const [first] = records;
  if (first === undefined || isRawLine(first) || !isJsonObject(first)) return undefined;
  const id = field(objectField(first, "payload") ?? objectField(first, "session") ?? first, "id");
  return typeof id === "string" && id !== "" ? id : undefined;
}

interface Placing {
  readonly state: SessionState;
  readonly restored: ReadonlyMap<string, Records>;
  readonly options: SerializeOptions;
  readonly losses: LossReport;
}

function placedIn(records: Records, at: Placing): Records {
  const isNamed = at.state.messages.some(({ message }) => message.seq === undefined);
  if (isNamed) at.losses.add("title", TITLE_LOSS);
  return records.map((record) => {
    if (isRawLine(record) || !isJsonObject(record)) return record;
    const payload = objectField(record, "payload");
    if (payload === undefined) return record;
    const placed = placedPayload(field(record, "type"), payload, at);
    return placed === payload ? record : { ...record, payload: placed };
  });
}

function placedPayload(type: JsonValue | undefined, payload: JsonObject, at: Placing): JsonObject {
  const { mapPath } = at.options;
  if (type === "session_meta") return withPrefix(withMapped(payload, mapPath), at);
  if (type === "turn_context") return withMapped(payload, mapPath);
  const settings = type === "event_msg" ? objectField(payload, "thread_settings") : undefined;
  return settings === undefined ? payload : { ...payload, thread_settings: withMapped(settings, mapPath) };
}

function withMapped(object: JsonObject, mapPath: (path: string) => string): JsonObject {
  const cwd = field(object, "cwd");
  const mapped: Record<string, JsonValue> = typeof cwd === "string" ? { cwd: mapPath(cwd) } : {};
  for (const name of ["workspace_roots", "runtime_workspace_roots"]) {
    const roots = field(object, name);
    if (Array.isArray(roots))
      mapped[name] = roots.map((root) => (typeof root === "string" ? mapPath(root) : root));
  }
  return { ...object, ...mapped };
}

/** A paginated fork begins in the middle of its parent's file; that place moves when the file is written anew. */
function withPrefix(meta: JsonObject, at: Placing): JsonObject {
  const base = objectField(meta, "history_base");
  const end = base === undefined ? undefined : integerField(base, "end_ordinal_exclusive");
  const parentId = at.state.session.parent_session_id;
  if (base === undefined || end === undefined || parentId === undefined) return meta;
  const parent = at.restored.get(parentId);
  if (parent === undefined) {
    at.losses.add(
      "history before the fork",
      `it stands in the rollout of ${parentId}, which is not restored with it`,
    );
    return meta;
  }
  let bytes = 0;
  for (const record of parent) {
    const ordinal = isRawLine(record) || !isJsonObject(record) ? undefined : integerField(record, "ordinal");
    if (ordinal !== undefined && ordinal >= end) break;
    bytes += isRawLine(record) ? record.raw.length + 1 : Buffer.byteLength(stringifyJson(record)) + 1;
  }
  return { ...meta, history_base: { ...base, end_byte_offset: bytes } };
}
