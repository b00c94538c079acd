/**
 * A lineage of sessions that were JSONL logs back as these logs, value for value
 * (spec.md#adapter-native-restore-lossless). Lines that were not JSON and records that were kept whole are put back here;
 * a client says what its records are made of and where it looks for its files.
 */
import { PondError } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Lineage, SessionState } from "../../../model/events/index.ts";
import type { Session } from "../../../model/index.ts";
import { arrayField, extractString, field, objectField } from "../extract/extract.ts";
import { wholeRecord } from "../session/whole.ts";
import type { RawLine } from "../files/raw-line.ts";
import { isRawLine } from "../files/raw-line.ts";
import type { RecordHashes } from "../files/record-chain.ts";
import { recordHash } from "../files/record-chain.ts";
import type { RecordGroup } from "./record-groups.ts";
import { recordGroups } from "./record-groups.ts";
import { recordedDirectories } from "./recorded-directories.ts";
import type { Restored, RestoredLog, Resume, SerializeOptions } from "./restore.ts";
import { RestoredFiles } from "./restored-files.ts";

/** How a client's logs are written. */
export interface NativeLogs {
  /** The record that these messages came from. */
  readonly record: (group: RecordGroup) => JsonValue;
  /** Where the client of this machine looks for a log, below its place. */
  readonly clientPath: (log: LogInClient) => string;
  /** A record with the paths that the client goes by rewritten for this machine. */
  readonly withMappedPaths: (record: JsonObject, mapPath: SerializeOptions["mapPath"]) => JsonObject;
  readonly resume: (id: string) => Pick<Resume, "words" | "byPath">;
}

export interface LogInClient {
  readonly session: Session;
  /** The id that the client knows the session by. */
  readonly id: string;
  /** The path of the log below the place it was read from. */
  readonly key: string;
  /** On this machine. */
  readonly directory: string;
}

/** Every log of the lineage, equal by value to its source. */
export function serializeLogs(lineage: Lineage, options: SerializeOptions, client: NativeLogs): Restored {
  const files = new RestoredFiles();
  const logs: RestoredLog[] = [];
  const add = ({ state, children }: Lineage): void => {
    const { session } = state;
    const records = logLines(state, client).map((record) =>
      isRawLine(record) || !isJsonObject(record) ? record : client.withMappedPaths(record, options.mapPath),
    );
    const path = options.layout === "source" ? sourceKey(state) : client.clientPath(inClient(state, options));
    if (records.length > 0)
      logs.push({ path: files.add({ kind: "jsonl", path, records }, session.id), session: session.id });
    for (const child of children) add(child);
  };
  add(lineage);
  const id = ownId(lineage.state.session);
  const directory = options.mapPath(directoryOf(lineage.state));
  const resume = { id, directory, ...client.resume(id) };
  return { fidelity: "native", files: files.list(), logs, losses: [], resume };
}

/** The hashes of what is restored (spec.md#sources-state). */
export function logHashes({ messages }: SessionState, client: Pick<NativeLogs, "record">): RecordHashes {
  const log = recordGroups(messages).map((group) => ({
    record: group.record,
    hash: recordHash(lineOf(group, client)),
  }));
  return { log, side: new Map() };
}

/** What is left of the record of a session, message or part, and what else restore needs of it. */
export function sourceOf({ options }: { readonly options: JsonObject }): JsonObject {
  return objectField(options, "source") ?? {};
}

/** The lines of a session's log, in order. */
export function logLines(
  { messages }: SessionState,
  client: Pick<NativeLogs, "record">,
): readonly (JsonValue | RawLine)[] {
  return recordGroups(messages).map((group) => lineOf(group, client));
}

function lineOf(group: RecordGroup, client: Pick<NativeLogs, "record">): JsonValue | RawLine {
  const whole = wholeRecord(group.pieces);
  if (whole !== undefined) return whole;
  const source = sourceOf(group.first.message);
  const raw = extractString(source, "raw");
  if (raw === undefined) return client.record(group);
  return { raw: Buffer.from(raw, field(source, "encoding") === "base64" ? "base64" : "utf8") };
}

function inClient(state: SessionState, { mapPath }: SerializeOptions): LogInClient {
  const { session } = state;
  return {
    session,
    id: ownId(session),
    key: sourceKey(state),
    directory: mapPath(directoryOf(state)),
  };
}

function ownId(session: Session): string {
  return extractString(sourceOf(session), "session_id") ?? session.id;
}

function sourceKey({ session, source }: SessionState): string {
  const key = source?.key ?? extractString(sourceOf(session), "path");
  if (key !== undefined) return key;
  throw new PondError("validation_failed", `session ${session.id} does not say which file it came from`, {
    reason: "unsupported",
    hint: "restore it as foreign",
  });
}

/** As its own records name it: those of another source may name another. */
const directoryOf = (state: SessionState): string => recordedDirectories(state)[0] ?? state.session.project;

/** The blocks of a turn, with those that no part expressed put back at their positions. */
export function withUnmapped(blocks: readonly JsonValue[], source: JsonObject): JsonValue[] {
  const all = [...blocks];
  for (const entry of arrayField(source, "blocks") ?? []) {
    if (!Array.isArray(entry)) continue;
    const [index, block] = entry;
    if (typeof index === "number" && block !== undefined) all.splice(index, 0, block);
  }
  return all;
}
