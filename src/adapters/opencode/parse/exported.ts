/**
 * A session as `opencode export` prints it: `{ info, messages: [{ info, parts }] }` in one file, in whatever encoding a
 * shell wrote it. One that is no exact JSON is kept as its bytes, in a session that is told by what can be read of it.
 */
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { FileStamp } from "../../kit/files/index.ts";
import { arrayField, extractName, field, objectField, without } from "../../kit/extract/index.ts";
import { membersOf, parseText, readableIn } from "../../kit/document/index.ts";
import { decodeText } from "../../kit/files/index.ts";
import { nameOf } from "../../kit/files/path-names.ts";
import type { SideRecord } from "../../kit/session/index.ts";
import type { SourceFault } from "../../kit/sources/index.ts";
import { stemOf } from "../layout.ts";
import type { MessageRecord, SourceRecord } from "../records/record.ts";
import type { SessionSource } from "../records/source.ts";

/** What an export that cannot be parsed begins with, as far as one looks. */
const OPENING = /^\s*\{[^]*?"(?:info|messages)"\s*:/;
const OPENING_LENGTH = 4096;

/** The client's own settings, beside which exports are put: no export, and nobody takes it for one. */
const SETTINGS = "opencode.json";

/** Past this a file cannot be held as one text. */
const MAX_EXPORT_BYTES = 512 * 1024 * 1024;

/** The record of all that an export says but its session and messages, or of its bytes. */
const EXPORT = "export";

const SHAPE: ReadonlySet<string> = new Set(["info", "parts"]);

export type Export =
  | { readonly kind: "session"; readonly source: SessionSource }
  /** No exact JSON: it may still be written. */
  | { readonly kind: "broken"; readonly source: SessionSource }
  | { readonly kind: "fault"; readonly fault: SourceFault }
  /** A file of something else that is not named as an export. */
  | { readonly kind: "other" };

export async function openExport(key: string, stamp: FileStamp): Promise<Export> {
  const { path } = stamp;
  if (stamp.size > MAX_EXPORT_BYTES)
    return faulty(path, "too_long", `the export is larger than ${MAX_EXPORT_BYTES} bytes`);
  const bytes = await readFile(path);
  const decoded = decodeText(bytes);
  const text = decoded.ok ? decoded.text : decoded.lossy;
  const { value, fault } = decoded.ok
    ? parseText(text)
    : { value: undefined, fault: { kind: "invalid_utf8" as const, message: decoded.message } };
  if (fault !== undefined) {
    if (!OPENING.test(text.slice(0, OPENING_LENGTH))) return noExport(key, path);
    return { kind: "broken", source: brokenSource({ key, stamp, bytes, text, fault: { ...fault, path } }) };
  }
  const record = value !== undefined && "json" in value && isJsonObject(value.json) ? value.json : {};
  const info = objectField(record, "info");
  const messages = arrayField(record, "messages");
  if (info === undefined || messages === undefined) return noExport(key, path);
  return { kind: "session", source: sourceOf({ key, stamp, record, info, messages }) };
}

function noExport(key: string, path: string): Export {
  if (nameOf(key) === SETTINGS) return { kind: "other" };
  const message =
    "not an opencode export, although it is named like one: it is not an object with info and messages";
  return faulty(path, "unexpected_shape", message);
}

interface Broken {
  readonly key: string;
  readonly stamp: FileStamp;
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly fault: SourceFault;
}

/** Its id, its project and its time as far as they can be read, else those of the file. */
function brokenSource({ key, stamp, bytes, text, fault }: Broken): SessionSource {
  const info = membersOf(text).get("info");
  const facts = info === undefined ? {} : readableIn(info);
  const at = Math.floor(stamp.mtime);
  const faults = [fault];
  return {
    id: extractName(facts, "id")?.toWellFormed() ?? stemOf(key),
    kind: "export",
    key,
    container: key,
    path: stamp.path,
    facts,
    scopes: [field(facts, "projectID") ?? null, basename(dirname(stamp.path))],
    newest: at,
    count: 0,
    message: () => {
      throw new RangeError("no such message");
    },
    side: () => [{ name: EXPORT, source: { [EXPORT]: "bytes" }, data: bytes, at, bytes: bytes.length }],
    faults: () => faults.splice(0),
  };
}

interface Parsed {
  readonly key: string;
  readonly stamp: FileStamp;
  readonly record: JsonObject;
  readonly info: JsonObject;
  readonly messages: readonly JsonValue[];
}

function sourceOf({ key, stamp, record, info, messages }: Parsed): SessionSource {
  const at = Math.floor(stamp.mtime);
  const bytes = stamp.size;
  const rest = without(record, new Set(["info", "messages"]));
  return {
    id: extractName(info, "id")?.toWellFormed() ?? stemOf(key),
    kind: "export",
    key,
    container: key,
    path: stamp.path,
    info: { value: { json: info }, at, bytes },
    facts: info,
    scopes: [field(info, "projectID") ?? null],
    newest: at,
    count: messages.length,
    message: (index) => messageOf(messages[index] ?? null, { at, bytes }),
    // What else the file says, where a newer client says more.
    side: () =>
      Object.keys(rest).length === 0
        ? []
        : [{ name: EXPORT, source: { [EXPORT]: rest }, at, bytes } satisfies SideRecord],
    faults: () => [],
  };
}

/** What stands beside `info` and `parts` is kept; a message without them is carried as it is. */
function messageOf(value: JsonValue, at: Pick<SourceRecord, "at" | "bytes">): MessageRecord {
  const info = isJsonObject(value) ? objectField(value, "info") : undefined;
  const parts = isJsonObject(value) ? arrayField(value, "parts") : undefined;
  if (!isJsonObject(value) || info === undefined || parts === undefined)
    return { value: { json: value }, parts: [], beside: "whole", ...at };
  const beside = without(value, SHAPE);
  return {
    value: { json: info },
    parts: parts.map((part) => ({ value: { json: part }, ...at })),
    ...(Object.keys(beside).length === 0 ? {} : { beside }),
    ...at,
  };
}

function faulty(path: string, kind: SourceFault["kind"], message: string): Export {
  return { kind: "fault", fault: { kind, path, message } };
}
