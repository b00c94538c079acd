/** Canonical sessions to pi's files (spec.md#adapter-restore): a whole lineage, natively or as a foreigner. */
import { optionWords } from "../../../base/shell.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { formatTimestamp } from "../../../model/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import type { LogInClient, Restored, SerializeOptions } from "../../kit/restore/index.ts";
import { extractString } from "../../kit/extract/index.ts";
import { serializeLogs } from "../../kit/restore/index.ts";
import { serializeForeign } from "./foreign.ts";
import { isHeader } from "../parse/head.ts";
import { nameOf } from "../../kit/files/path-names.ts";
import { fileNameFor, folderFor, idInName, stemOf } from "../layout.ts";
import { RECORDS } from "./native.ts";

export function serialize(lineage: Lineage, options: SerializeOptions): Restored {
  if (options.fidelity === "foreign") return serializeForeign(lineage, options);
  return serializeLogs(lineage, options, {
    ...RECORDS,
    clientPath,
    withMappedPaths,
    resume: (id) => ({ words: ["pi", ...optionWords("--session", id)], byPath: ["pi", "--session"] }),
  });
}

/** Where the client of this machine looks, below its `sessions` folder. */
function clientPath({ session, key, id, directory }: LogInClient): string {
  const startedAt = formatTimestamp(session.created_at);
  const name = idInName(stemOf(key)) === id ? nameOf(key) : fileNameFor(startedAt, id);
  return `${folderFor(directory)}/${name}`;
}

/** The header contains the paths that pi goes by. */
function withMappedPaths(record: JsonObject, mapPath: SerializeOptions["mapPath"]): JsonObject {
  if (!isHeader(record)) return record;
  const mapped: Record<string, JsonValue> = {};
  for (const name of ["cwd", "parentSession", "branchedFrom", "legacyParentSessionPath"]) {
    const path = extractString(record, name);
    if (path !== undefined && mapPath(path) !== path) mapped[name] = mapPath(path);
  }
  return { ...record, ...mapped };
}
