/**
 * Files beside a log, kept whole: a carrier message with one injected file part, at no position of the log. The id
 * holds the content's hash, so that a file which changed is a new row and nothing is lost with the cursor.
 */
import { hash } from "node:crypto";
import type { JsonObject } from "../../base/json.ts";
import { decodeUtf8, isJsonObject, tryParseJson } from "../../base/json.ts";
import { timestampFromMillis } from "../../model/index.ts";
import type { FileStamp, LogEntry } from "../seam/index.ts";

/** `name` is the path relative to the log's folder. */
export function sideFileEntry(name: string, stamp: FileStamp, data: Uint8Array): LogEntry {
  const id = `file:${name}`;
  return {
    id: { text: `${id}@${hash("sha256", data, "hex").slice(0, 32)}`, isSource: false },
    timestamp: timestampFromMillis(stamp.mtime),
    bytes: name.length * 3,
    positioned: false,
    drafts: [
      {
        role: "system",
        options: { source: { file: name }, pond: { revises: id } },
        parts: [
          {
            type: "file",
            provenance: "injected",
            data: { kind: "bytes", value: data },
            options: { pond: { injected: "side-file" } },
          },
        ],
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
