/** A session as `opencode export` prints it: `{ info, messages: [{ info, parts }] }` in one file. */
import { open, readFile } from "node:fs/promises";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { FileStamp } from "../seam/index.ts";
import { arrayField, extractName, field, objectField, without } from "../seam/index.ts";
import { stemOf } from "./layout.ts";
import { parseFile } from "./read-tree.ts";
import type { MessageRecord, SourceRecord } from "./record.ts";
import type { SessionSource, SideRecord, SourceFault } from "./source.ts";

/** The client writes `info` first; the order of keys says nothing, so either may come first. */
const OPENING = /^\s*\{\s*"(?:info|messages)"\s*:/;
const OPENING_BYTES = 4096;

/** Past this a file cannot be held as one text. */
const MAX_EXPORT_BYTES = 512 * 1024 * 1024;

const SHAPE: ReadonlySet<string> = new Set(["info", "parts"]);

export type Export =
  | { readonly kind: "session"; readonly source: SessionSource }
  | { readonly kind: "fault"; readonly fault: SourceFault }
  /** A JSON file of something else. */
  | { readonly kind: "other" };

export async function openExport(key: string, stamp: FileStamp): Promise<Export> {
  const { path } = stamp;
  if (!OPENING.test(await readOpening(path))) return { kind: "other" };
  if (stamp.size > MAX_EXPORT_BYTES)
    return faulty(path, "too_long", `the export is larger than ${MAX_EXPORT_BYTES} bytes`);
  const { value, fault } = parseFile(await readFile(path));
  if (fault !== undefined) return { kind: "fault", fault: { ...fault, path } };
  const record = "json" in value && isJsonObject(value.json) ? value.json : {};
  const info = objectField(record, "info");
  const messages = arrayField(record, "messages");
  if (info === undefined || messages === undefined) return { kind: "other" };
  return { kind: "session", source: sourceOf({ key, stamp, record, info, messages }) };
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
        : [{ name: "export", source: { export: rest }, at, bytes } satisfies SideRecord],
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

async function readOpening(path: string): Promise<string> {
  await using file = await open(path, "r");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(OPENING_BYTES), 0, OPENING_BYTES, 0);
  return buffer.toString("latin1", 0, bytesRead);
}

function faulty(path: string, kind: SourceFault["kind"], message: string): Export {
  return { kind: "fault", fault: { kind, path, message } };
}
