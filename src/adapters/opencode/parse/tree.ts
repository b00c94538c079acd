/** A session of a JSON tree: one file a record, each rewritten in place (docs/adapters/opencode.md#layout). */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../../base/errors.ts";
import { decodeUtf8, tryParseJson } from "../../../base/json/json.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import { field, objectField } from "../../kit/extract/index.ts";
import { partFolder, stemOf } from "../layout.ts";
import type { MessageRecord, RawText, SourceRecord } from "../records/record.ts";
import { idOf } from "../records/record.ts";
import { infoOf } from "../records/session.ts";
import type { SessionSource, SideRecord, SourceFault } from "../records/source.ts";
import type { Tree, TreeSession } from "./trees.ts";

/** Side files beyond this are kept as payloads, because a text column would cut them. */
const MAX_JSON_BYTES = 16 * 1024 * 1024;

/** Past this a file cannot be held as one text, if need be in base64. */
export const MAX_FILE_BYTES = 384_000_000;

export const tooLong = (size: number): string => `${size} bytes are more than pond stores of one file`;

export function openTreeSession(root: string, tree: Tree, session: TreeSession): SessionSource {
  const reader = new TreeReader(join(root, tree.root));
  const { info, project, messages, parts, side } = session;
  const record = info && reader.read(info.path);
  const isUnlisted = session.isUnlisted === true || reader.hasFaults;
  const scope = project && reader.read(project.path);
  const infos: TreeMessage[] = [];
  for (const { path } of messages) {
    const message = reader.read(path);
    if (message !== undefined) infos.push(message);
    else if (reader.isFaulty(path))
      infos.push({ value: { json: null }, stem: stemOf(path), at: 0, bytes: 0, isUnreadable: true });
  }
  infos.sort(inOrder);
  const read = new Set(infos.map((message) => join(reader.folder, partsOf(tree, session.id, message))));
  const strays = parts.filter(({ path }) => !read.has(dirname(path)));
  const facts = (record && infoOf(record)) ?? {};
  const all = [info, project, ...messages, ...parts, ...side];
  return {
    id: session.id,
    kind: "tree",
    key: session.key,
    container: tree.root,
    path: info?.path ?? join(root, session.key),
    ...(record === undefined ? {} : { info: record }),
    facts,
    scopes: [field(scopeFacts(scope), "worktree") ?? null, field(facts, "projectID") ?? null],
    ...(info === undefined ? { folder: folderName(root, tree) } : {}),
    ...(info === undefined && messages.length === 0 ? { isStray: true } : {}),
    newest: all.reduce((newest, stamp) => Math.max(newest, stamp?.mtime ?? 0), 0),
    count: infos.length,
    message: (index) => withParts(reader, tree, { session: session.id, info: infos[index] }),
    side: () => [
      ...sideRecords(reader, [...(project === undefined ? [] : [project]), ...side]),
      ...sideRecords(reader, strays).map((stray) => ({ ...stray, isStray: true })),
    ],
    faults: () => reader.takeFaults(),
    isUnlisted,
    isPartial: session.isPartial === true,
  };
}

type TreeMessage = SourceRecord & Pick<MessageRecord, "isUnreadable">;
/** The folder of a message's parts, below the tree's: the client looks there by the id that the message tells. */
function partsOf({ era }: Tree, session: string, message: SourceRecord): string {
  return partFolder(era, session, idOf(message) ?? message.stem ?? "");
}

/** Before mid-2025 a project had a folder with its name, since then all have one. */
function folderName(root: string, { root: tree, era }: Tree): string {
  const folder = join(root, tree);
  return basename(era === "project" ? dirname(dirname(folder)) : dirname(folder));
}

class TreeReader {
  readonly folder: string;
  #faults: SourceFault[] = [];
  readonly #seen = new Set<string>();
  readonly #unreadable = new Set<string>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Undefined when the file is gone: clients remove messages while pond looks. */
  read(path: string): SourceRecord | undefined {
    const file = this.load(path);
    if (file === undefined) return undefined;
    const parsed = parseFile(file.data);
    if (parsed.fault !== undefined) this.report({ path, ...parsed.fault });
    return { value: parsed.value, stem: stemOf(path), at: file.at, bytes: file.data.length };
  }

  /** Files are many and small: one that is read at once costs a tenth of one that is waited for. */
  load(path: string): { readonly data: Buffer; readonly at: number } | undefined {
    try {
      const { size, mtimeMs } = statSync(path);
      if (size <= MAX_FILE_BYTES) return { data: readFileSync(path), at: Math.floor(mtimeMs) };
      this.report({ kind: "too_long", path, message: tooLong(size) });
      return undefined;
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      this.report({ kind: "unreadable", path, message: messageOf(error) });
      return undefined;
    }
  }

  /** The JSON files of a folder, by name; none where there is no such folder. Undefined where it cannot be listed. */
  list(folder: string): readonly string[] | undefined {
    const path = join(this.folder, folder);
    try {
      return readdirSync(path)
        .filter((name) => name.endsWith(".json"))
        .toSorted(byText);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      this.report({ kind: "unreadable", path, message: messageOf(error) });
      return undefined;
    }
  }

  /** True where something could not be read. */
  get hasFaults(): boolean {
    return this.#unreadable.size > 0;
  }

  isFaulty(path: string): boolean {
    return this.#unreadable.has(path);
  }

  takeFaults(): readonly SourceFault[] {
    const faults = this.#faults;
    this.#faults = [];
    return faults;
  }

  /** A file is read more than once, its fault is told once. */
  report(fault: SourceFault): void {
    if (fault.kind === "unreadable") this.#unreadable.add(fault.path);
    if (this.#seen.has(fault.path)) return;
    this.#seen.add(fault.path);
    this.#faults.push(fault);
  }
}

function withParts(
  reader: TreeReader,
  tree: Tree,
  { session, info }: { readonly session: string; readonly info: TreeMessage | undefined },
): MessageRecord {
  if (info === undefined) throw new RangeError("no such message");
  const folder = partsOf(tree, session, info);
  const parts: SourceRecord[] = [];
  const names = reader.list(folder);
  let isUnreadable = info.isUnreadable === true || names === undefined;
  for (const name of names ?? []) {
    const path = join(reader.folder, folder, name);
    const part = reader.read(path);
    if (part !== undefined) parts.push(part);
    else if (reader.isFaulty(path)) isUnreadable = true;
  }
  return isUnreadable ? { ...info, parts, isUnreadable } : { ...info, parts };
}

function* sideRecords(
  reader: TreeReader,
  stamps: readonly { readonly path: string }[],
): Generator<SideRecord> {
  for (const { path } of stamps) {
    const loaded = reader.load(path);
    const file = path.slice(reader.folder.length + 1).replaceAll("\\", "/");
    if (loaded === undefined) {
      if (reader.isFaulty(path))
        yield { name: `file:${file}`, source: { file }, at: 0, bytes: 0, isUnreadable: true };
      continue;
    }
    const { data } = loaded;
    const { fault } = parseFile(data);
    if (fault !== undefined) reader.report({ path, ...fault });
    yield sideRecord(file, data, loaded.at);
  }
}

/** JSON where it can be told by value, the bytes otherwise. */
export function sideRecord(file: string, data: Buffer, at: number): SideRecord {
  const name = `file:${file}`;
  const parsed = parseFile(data);
  if (data.length > MAX_JSON_BYTES || !("json" in parsed.value))
    return { name, source: { file }, data, at, bytes: data.length };
  return { name, source: { file, record: parsed.value.json }, at, bytes: data.length };
}

interface ParsedFile {
  readonly value: SourceRecord["value"];
  readonly fault?: Omit<SourceFault, "path">;
}

/** The JSON value of a file, or its bytes and why it has none. */
export function parseFile(bytes: Buffer): ParsedFile {
  const decoded = decodeUtf8(bytes);
  if (!decoded.ok) {
    const value: RawText = { raw: bytes.toString("base64"), encoding: "base64" };
    return { value, fault: { kind: "invalid_utf8", message: `byte ${decoded.offset} is not UTF-8` } };
  }
  return parseText(decoded.text);
}

/** The same of a text. */
export function parseText(text: string): ParsedFile {
  const parsed = tryParseJson(text);
  if (parsed.kind === "value") return { value: { json: parsed.value } };
  const fault =
    parsed.kind === "syntax"
      ? { kind: "not_json" as const, message: `${parsed.message} at character ${parsed.offset}` }
      : { kind: "duplicate_keys" as const, message: `the same key twice at ${parsed.paths.join(", ")}` };
  return { value: { raw: text }, fault };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function scopeFacts(scope: SourceRecord | undefined): JsonObject {
  return (scope && infoOf(scope)) ?? {};
}

/** As the client lists them: by the time that the record tells, then by id. */
export function inOrder(a: SourceRecord, b: SourceRecord): number {
  return createdOf(a) - createdOf(b) || byText(idOf(a) ?? "", idOf(b) ?? "");
}

export function createdOf(record: SourceRecord): number {
  const info = infoOf(record);
  const time = info && objectField(info, "time");
  const created = time && field(time, "created");
  return typeof created === "number" ? created : 0;
}

export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
