/** Sessions of Qwen Code back to its logs (spec.md#adapter-restore). Sessions of other clients are refused before. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { optionWords } from "../../../base/shell.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import type { SessionState } from "../../../model/events/index.ts";
import type { Lineage, PresentSession } from "../../kit/adapter/index.ts";
import { extractString } from "../../kit/extract/index.ts";
import type { LogInClient, Restored, SerializeOptions } from "../../kit/restore/index.ts";
import { logHashes, serializeLogs } from "../../kit/restore/index.ts";
import { shapedRecord } from "../../kit/shapes/index.ts";
import { foldersIn } from "../../kit/sources/discovery.ts";
import type { Place } from "../../kit/sources/index.ts";
import type { RecordHashes } from "../../kit/files/index.ts";
import { EXTENSION, folderFor, subagentIn } from "../layout.ts";
import { SHAPES } from "../shapes.ts";

const RECORDS = { record: (group: Parameters<typeof shapedRecord>[0]) => shapedRecord(group, SHAPES) };

export function serialize(lineage: Lineage, options: SerializeOptions): Restored {
  return serializeLogs(lineage, options, {
    ...RECORDS,
    clientPath,
    withMappedPaths,
    resume: (id) => ({ words: ["qwen", ...optionWords("--resume", id)] }),
  });
}

export const hashes = (state: SessionState): RecordHashes => logHashes(state, RECORDS);

/** Where Qwen Code has a session of an id, in the folder of whichever directory. */
export async function present(id: string, { path }: Place): Promise<readonly PresentSession[]> {
  const found: PresentSession[] = [];
  for (const folder of await foldersIn(path)) {
    const log = join(folder, "chats", `${id}${EXTENSION}`);
    const stats = await stat(log).catch(() => undefined);
    if (stats?.isFile() === true) found.push({ path: log });
  }
  return found;
}

function clientPath({ id, key, directory }: LogInClient): string {
  const agent = subagentIn(key);
  const below = agent === undefined ? `chats/${id}` : `subagents/${id}/${agent}`;
  return `${folderFor(directory)}/${below}${EXTENSION}`;
}

/** A session belongs to the directory that its records name. */
function withMappedPaths(record: JsonObject, mapPath: SerializeOptions["mapPath"]): JsonObject {
  const directory = extractString(record, "cwd");
  return directory === undefined ? record : { ...record, cwd: mapPath(directory) };
}
