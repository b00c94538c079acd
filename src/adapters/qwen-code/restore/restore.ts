/** Sessions of Qwen Code back to its logs (spec.md#adapter-restore). Sessions of other clients are refused before. */
import { PondError } from "../../../base/errors.ts";
import { optionWords } from "../../../base/shell.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import { extractString } from "../../kit/extract/index.ts";
import type { LogInClient, Restored, SerializeOptions } from "../../kit/restore/index.ts";
import { serializeLogs } from "../../kit/restore/index.ts";
import { EXTENSION, folderFor, isFileName, subagentIn } from "../layout.ts";
import { RECORDS } from "./native.ts";

export function serialize(lineage: Lineage, options: SerializeOptions): Restored {
  return serializeLogs(lineage, options, {
    ...RECORDS,
    clientPath,
    withMappedPaths,
    resume: (id) => ({ words: ["qwen", ...optionWords("--resume", id)] }),
  });
}

function clientPath({ id, key, directory }: LogInClient): string {
  if (!isFileName(id))
    throw new PondError("validation_failed", `Qwen Code cannot name a file by the session id ${id}`, {
      reason: "unsupported",
      hint: "restore the session into another client",
    });
  const agent = subagentIn(key);
  const below = agent === undefined ? `chats/${id}` : `subagents/${id}/${agent}`;
  return `${folderFor(directory)}/${below}${EXTENSION}`;
}

/** A session belongs to the directory that its records name. */
function withMappedPaths(record: JsonObject, mapPath: SerializeOptions["mapPath"]): JsonObject {
  const directory = extractString(record, "cwd");
  return directory === undefined ? record : { ...record, cwd: mapPath(directory) };
}
