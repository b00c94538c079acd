/**
 * What a rollout says about its session, found by a short look ahead: most logs say it all in their first line. The
 * project is the first recorded directory; an old log that records none is named by its repository, else by the
 * folder it stands in (spec.md#model-project-non-empty).
 */
import { basename, dirname } from "node:path/posix";
import { basename as nativeBasename } from "node:path";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Extracted, Session, Timestamp } from "../../../model/index.ts";
import { messageId, sessionId, timestampFromMillis } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { FileStamp } from "../../kit/files/index.ts";
import type { Place, Unit } from "../../kit/sources/index.ts";
import type { JsonlItem } from "../../kit/log/index.ts";
import {
  arrayField,
  extractFromPath,
  extractName,
  extractSpan,
  extractString,
  extractTimestamp,
  field,
  objectField,
} from "../../kit/extract/index.ts";
import { copyId, nameOfSource } from "../../kit/sources/index.ts";
import { isSettled } from "../../kit/files/index.ts";
import { optional } from "../../../base/optional.ts";
import type { CodexLineage } from "./lineage.ts";
import { lineageOf } from "./lineage.ts";
import { parseRolloutName, sessionIdOf } from "../layout.ts";
import { viewRecord } from "../records/record.ts";
import type { RolloutRecord } from "../records/record.ts";
import type { ItemBatches, Source } from "./source.ts";

const ENVELOPES: ReadonlySet<string> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
  "world_state",
]);

/** Where old clients wrote the directory: in the first text that they send to the model. */
const ENVIRONMENT =
  /^\s*<environment_context>[\s\S]*?(?:<cwd>([^<]+)<\/cwd>|Current working directory: ([^\n]+))/;

/** Collects the header while records pass by. */
export class HeaderScan {
  /** True once a record was seen, or a line that is none: those are kept too. */
  hasLines = false;
  /** False when the first record is none that Codex writes. */
  isRollout = false;
  /** The first `session_meta`, or the header of an old log. */
  meta: JsonObject | undefined;
  createdAt: Timestamp | undefined;
  directory: Extracted<string> | undefined;
  /** Bytes that hold all that is wanted. */
  end = Number.POSITIVE_INFINITY;
  #hasRecords = false;
  #repository: Extracted<string> | undefined;

  /** True when nothing more is wanted. */
  add(value: JsonValue): boolean {
    const view = viewRecord(value);
    if (!this.#hasRecords) this.isRollout = view !== undefined && isRolloutRecord(view);
    this.#hasRecords = true;
    if (view === undefined) return false;
    this.#addMeta(view);
    this.createdAt ??= instantOf(view);
    this.directory ??= directoryOf(view);
    return this.createdAt !== undefined && this.directory !== undefined;
  }

  addAll(items: readonly JsonlItem[]): boolean {
    this.hasLines ||= items.some(({ kind }) => kind !== "tail");
    const last = items.find((item) => item.kind === "record" && this.add(item.value));
    if (last !== undefined) this.end = last.end;
    return last !== undefined;
  }

  #addMeta(view: RolloutRecord): void {
    const meta = metaOf(view);
    if (meta === undefined || this.meta !== undefined) return;
    this.meta = meta;
    const git = objectField(meta, "git");
    if (git !== undefined) this.#repository = extractName(git, "repository_url");
  }

  get scope(): Extracted<string> | undefined {
    return this.directory ?? this.#repository;
  }
}

/** A log that is open at its start, with what it says about its session. */
export interface OpenLog extends AsyncDisposable {
  readonly scan: HeaderScan;
  readonly batches: ItemBatches;
}

/** Nearly always the first lines say it all; only a log without a directory is read through before. */
export async function openLog(source: Source): Promise<OpenLog> {
  const rest = source.items();
  const first = await rest.next();
  const head = first.done === true ? [] : first.value;
  let scan = new HeaderScan();
  if (first.done !== true && !scan.addAll(head)) scan = await scanWhole(source);
  const batches = after(head, rest);
  // Ending a generator that never started would leave the one inside it open.
  return { scan, batches, [Symbol.asyncDispose]: async () => void (await rest.return()) };
}

async function scanWhole(source: Source): Promise<HeaderScan> {
  const scan = new HeaderScan();
  for await (const items of source.items()) if (scan.addAll(items)) break;
  return scan;
}

async function* after(head: readonly JsonlItem[], rest: ItemBatches): ItemBatches {
  yield head;
  yield* rest;
}

/** A file that records no directory yet and changed a moment ago may still do so (spec.md#sync-waiting). */
export function isUndecided(scan: HeaderScan, stamp: FileStamp, now: number): boolean {
  return scan.directory === undefined && !isSettled(stamp, now);
}

/** The session that the header describes; `known` is the id under which earlier records of the log were told. */
export function sessionOf(
  scan: HeaderScan,
  unit: Unit,
  from: { readonly place: Place; readonly known?: string | undefined },
): Session {
  const stamp = unit.files[0];
  const created = scan.createdAt;
  const fallback = created ?? timestampFromMillis(Math.floor(stamp?.mtime ?? 0));
  const name = nameOfSource(from.place, unit.key);
  const folder = name === unit.key ? dirname(name) : basename(dirname(name));
  const id = from.known ?? idOf(scan, unit, name);
  const lineage = lineageOf(scan.meta ?? {}, basename(unit.key));
  return {
    id: sessionId(id),
    ...(lineage.parentId === id ? {} : parentFields(lineage)),
    source_agent: lineage.sourceAgent,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a file's mtime is an instant
    created_at: fallback as Timestamp,
    project: scan.scope ?? extractFromPath(folder === "." ? nativeBasename(from.place.path) : folder),
    options: withFacts({ source: { path: unit.key } }, created === undefined ? { created_at: "file" } : {}),
  };
}

function parentFields({ parentId, cut, relation }: CodexLineage): Partial<Session> {
  if (parentId === undefined) return {};
  return {
    parent_session_id: sessionId(parentId),
    ...optional("parent_message_id", cut === undefined ? undefined : messageId(cut)),
    ...optional("relation", relation),
  };
}

/**
 * Every log that records an id is a source of that session, wherever it stands; one that lost its first line is told by
 * the id in its name; any other has an id of its own.
 */
function idOf(scan: HeaderScan, unit: Unit, source: string): string {
  const file = basename(unit.key);
  const own = scan.meta === undefined ? undefined : field(scan.meta, "id");
  const isUsable = typeof own === "string" && own !== "" && own.isWellFormed();
  const name = parseRolloutName(file);
  if (name !== undefined && (!isUsable || name.threadId === own)) return sessionIdOf(name);
  return isUsable ? own : copyId(file.replace(/\.jsonl?$/, ""), source);
}

function isRolloutRecord(view: RolloutRecord): boolean {
  if (view.enveloped) return ENVELOPES.has(view.kind.split("/")[0] ?? "");
  if (view.itemType === "state" || metaOf(view) !== undefined) return true;
  if (view.itemType === "message")
    return Object.hasOwn(view.item, "role") && Object.hasOwn(view.item, "content");
  return ["reasoning", "function_call", "function_call_output"].includes(view.itemType);
}

/** `session_meta`, the bare header of 2025, or the `session` of a TypeScript-era document. */
function metaOf(view: RolloutRecord): JsonObject | undefined {
  if (view.kind === "session_meta") return view.item;
  if (view.enveloped) return undefined;
  if (view.itemType === "header" && Object.hasOwn(view.item, "instructions")) return view.item;
  const session = objectField(view.item, "session");
  return session !== undefined && Object.hasOwn(session, "id") ? session : undefined;
}

function instantOf(view: RolloutRecord): Timestamp | undefined {
  const meta = metaOf(view);
  const started = meta === undefined ? undefined : extractTimestamp(meta, "timestamp");
  return started ?? extractTimestamp(view.record, "timestamp");
}

function directoryOf(view: RolloutRecord): Extracted<string> | undefined {
  if (view.kind === "session_meta" || view.kind === "turn_context") return extractName(view.item, "cwd");
  if (!view.isResponseItem || view.itemType !== "message") return undefined;
  for (const block of arrayField(view.item, "content") ?? []) {
    const text = isJsonObject(block) ? extractString(block, "text") : undefined;
    const match = text === undefined ? null : ENVIRONMENT.exec(text);
    const directory = match?.[1] ?? match?.[2];
    if (text === undefined || match === null || directory === undefined) continue;
    const start = match.index + match[0].lastIndexOf(directory);
    return extractSpan(text, start, start + directory.length);
  }
  return undefined;
}
