/**
 * Files beside a log, kept whole: a carrier message with one injected file part, at no position of the log
 * (spec.md#adapter-side-files). The id
 * holds the content's hash, so that a file which changed is a new row and nothing is lost with the cursor.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import { decodeUtf8, isJsonObject, tryParseJson } from "../../../base/json/json.ts";
import { timestampFromMillis } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { FileStamp } from "../../kit/files/index.ts";
import type { LogRecord } from "../../kit/session/index.ts";
import { bytesHash } from "../../kit/files/index.ts";
import { sideFilePart } from "../../kit/session/index.ts";

/** What all versions of a file are called; `name` is its path relative to the log's folder. */
export const recordOfFile = (name: string): string => `file:${name}`;

export function sideFileEntry(name: string, stamp: FileStamp, data: Uint8Array): LogRecord {
  const record = recordOfFile(name);
  const hash = bytesHash(data);
  return {
    id: { text: `${record}@${hash}`, isSource: false },
    record,
    hash,
    timestamp: timestampFromMillis(stamp.mtime),
    bytes: name.length * 3,
    positioned: false,
    drafts: [
      {
        role: "system",
        options: withFacts({ source: { file: name } }, { revises: record }),
        parts: [sideFilePart(data)],
      },
    ],
  };
}

/** The object in a JSON file, or undefined when it holds none. */
export function jsonObjectIn(data: Uint8Array): JsonObject | undefined {
  const decoded = decodeUtf8(data);
  const parsed = decoded.ok ? tryParseJson(decoded.text) : undefined;
  return parsed?.kind === "value" && isJsonObject(parsed.value) ? parsed.value : undefined;
}
