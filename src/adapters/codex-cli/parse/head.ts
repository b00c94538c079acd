/**
 * What a rollout says about its session, found by a short look ahead: most logs say it all in their first line. The
 * project is the first recorded directory; an old log that records none is named by its repository.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Extracted, Timestamp } from "../../../model/index.ts";
import type { FileStamp } from "../../kit/files/index.ts";
import type { JsonlItem } from "../../kit/log/index.ts";
import {
  arrayField,
  extractName,
  extractSpan,
  extractString,
  extractTimestamp,
  objectField,
} from "../../kit/extract/index.ts";
import { isSettled } from "../../kit/files/index.ts";
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
export class HeadFinder {
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
  readonly head: HeadFinder;
  readonly batches: ItemBatches;
}

/** Nearly always the first lines say it all; only a log without a directory is read through before. */
export async function openLog(source: Source): Promise<OpenLog> {
  const rest = source.items();
  const first = await rest.next();
  const items = first.done === true ? [] : first.value;
  let head = new HeadFinder();
  if (first.done !== true && !head.addAll(items)) head = await scanWhole(source);
  const batches = after(items, rest);
  // Ending a generator that never started would leave the one inside it open.
  return { head, batches, [Symbol.asyncDispose]: async () => void (await rest.return()) };
}

async function scanWhole(source: Source): Promise<HeadFinder> {
  const head = new HeadFinder();
  for await (const items of source.items()) if (head.addAll(items)) break;
  return head;
}

async function* after(first: readonly JsonlItem[], rest: ItemBatches): ItemBatches {
  yield first;
  yield* rest;
}

/** A file that records no directory yet and changed a moment ago may still do so (spec.md#sync-waiting). */
export function isUndecided(head: HeadFinder, stamp: FileStamp, now: number): boolean {
  return head.directory === undefined && !isSettled(stamp, now);
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
