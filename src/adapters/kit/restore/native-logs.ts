/**
 * A lineage of sessions that were JSONL logs back as these logs, value for value
 * (spec.md#adapter-native-restore-lossless). Lines that were not JSON and records that were kept whole are put back here;
 * a client says what its records are made of and where it looks for its files.
 */
import { PondError } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { optional } from "../../../base/optional.ts";
import type { Lineage, SessionState } from "../../../model/events/index.ts";
import type { Session } from "../../../model/index.ts";
import { arrayField, extractString, field, objectField } from "../extract/extract.ts";
import { wholeRecord } from "../session/whole.ts";
import type { RawLine } from "../files/raw-line.ts";
import { isRawLine } from "../files/raw-line.ts";
import type { RecordHashes } from "../files/record-chain.ts";
import { fileHashes, recordHash } from "../files/record-chain.ts";
import { folderOf, joinPath } from "../files/path-names.ts";
import type { Loss } from "../foreign/losses.ts";
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
  /** How the first session of the lineage is opened; its id where the client opens it by another one. */
  readonly resume: (
    id: string,
    state: SessionState,
  ) => Pick<Resume, "words" | "byPath"> & { readonly id?: string };
  /** Where a session worked on the machine that its state is of, if its records alone do not say so. */
  readonly directory?: (state: SessionState) => string;
  /** Files beside the log, by their paths relative to its folder. */
  readonly sideFiles?: (state: SessionState) => ReadonlyMap<string, Uint8Array>;
  /** What the client does not find again of the first session of the lineage. */
  readonly losses?: (state: SessionState) => readonly Loss[];
}

/** How its records are made, and told apart. */
interface NativeRecords extends Pick<NativeLogs, "record" | "sideFiles"> {
  /** What tells one version of a record from another, where its value alone does not. */
  readonly version?: (group: RecordGroup, hash: string) => string | undefined;
}

/** A log for which the client has a path of its own. */
export interface LogInClient {
  readonly session: Session;
  readonly state: SessionState;
  /** The path that the log of the session above has; absent for the first of the lineage. */
  readonly above?: string;
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
  const directoryOf = client.directory ?? recordedDirectory;
  const add = ({ state, children }: Lineage, above?: string): void => {
    const { session } = state;
    const records = logLines(state, client).map((record) =>
      isRawLine(record) || !isJsonObject(record) ? record : client.withMappedPaths(record, options.mapPath),
    );
    const key = sourceKey(state);
    const pathInClient = (): string => {
      const directory = options.mapPath(directoryOf(state));
      return client.clientPath({
        session,
        state,
        id: ownId(session),
        key,
        directory,
        ...optional("above", above),
      });
    };
    const path = options.layout === "source" ? key : pathInClient();
    if (records.length > 0)
      logs.push({ path: files.add({ kind: "jsonl", path, records }, session.id), session: session.id });
    for (const [name, data] of client.sideFiles?.(state) ?? [])
      files.add({ kind: "bytes", path: joinPath(folderOf(path), name), data }, session.id);
    for (const child of children) add(child, path);
  };
  add(lineage);
  const { state } = lineage;
  const id = ownId(state.session);
  const resume = { id, directory: options.mapPath(directoryOf(state)), ...client.resume(id, state) };
  const losses = client.losses?.(state) ?? [];
  return { fidelity: "native", files: files.list(), logs, losses, resume };
}

/** The hashes of what is restored (spec.md#sources-state). */
export function logHashes(state: SessionState, client: NativeRecords): RecordHashes {
  const log = recordGroups(state.messages).map((group) => {
    const hash = recordHash(lineOf(group, client));
    return { record: group.record, hash, ...optional("version", client.version?.(group, hash)) };
  });
  return { log, side: fileHashes(client.sideFiles?.(state) ?? new Map()) };
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

function ownId(session: Session): string {
  return extractString(sourceOf(session), "session_id") ?? session.id;
}

function sourceKey({ session, source }: SessionState): string {
  const key = source?.key ?? extractString(sourceOf(session), "path");
  if (key !== undefined) return key;
  throw new PondError("validation_failed", `session ${session.id} does not say which file it came from`, {
    reason: "unsupported",
    hint: "restore it into another client",
  });
}

/** As its own records name it: those of another source may name another. */
const recordedDirectory = (state: SessionState): string =>
  recordedDirectories(state)[0] ?? state.session.project;

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
