/** Sessions of Qwen Code back to its logs (spec.md#adapter-restore). Sessions of other clients are refused before. */
import { PondError } from "../../../base/errors.ts";
import { optionWords } from "../../../base/shell.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import { isSubagent } from "../../../model/derived/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import { stemOf } from "../../kit/files/path-names.ts";
import { extractString } from "../../kit/extract/index.ts";
import type { LogInClient, Restored, SerializeOptions } from "../../kit/restore/index.ts";
import { serializeLogs } from "../../kit/restore/index.ts";
import { CHATS, EXTENSION, folderFor, isFileName, subagentAt, subagentPath } from "../layout.ts";
import { RECORDS } from "./native.ts";

export function serialize(lineage: Lineage, options: SerializeOptions): Restored {
  return serializeLogs(lineage, options, {
    ...RECORDS,
    clientPath,
    withMappedPaths,
    resume: (id) => ({ words: ["qwen", ...optionWords("--resume", id)] }),
  });
}

function clientPath({ session, id, key, above, directory }: LogInClient): string {
  if (!isFileName(id))
    throw new PondError("validation_failed", `Qwen Code cannot name a file by the session id ${id}`, {
      reason: "unsupported",
      hint: "restore the session into another client",
    });
  const project = folderFor(directory);
  if (!isSubagent(session.source_agent)) return `${project}/${CHATS}/${id}${EXTENSION}`;
  const name = session.id.startsWith(`${id}/`) ? session.id.slice(id.length + 1) : stemOf(key, EXTENSION);
  // In the project of the session that started it, whatever directory it worked in itself.
  const [folder = project] = above?.split("/") ?? [];
  return `${folder}/${subagentAt(key)?.path ?? subagentPath(id, name)}`;
}

/** A session belongs to the directory that its records name. */
function withMappedPaths(record: JsonObject, mapPath: SerializeOptions["mapPath"]): JsonObject {
  const directory = extractString(record, "cwd");
  return directory === undefined ? record : { ...record, cwd: mapPath(directory) };
}
