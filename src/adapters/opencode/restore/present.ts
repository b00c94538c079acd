/** Where opencode has a session of an id: in its database; in a tree of files where there is no database yet. */
import { join } from "node:path";
import { isPondError } from "../../../base/errors.ts";
import { argumentWords } from "../../../base/shell.ts";
import type { AdapterEnv, Place } from "../../kit/sources/index.ts";
import type { PresentSession } from "../../kit/adapter/index.ts";
import { SqliteFile } from "../../kit/database/index.ts";
import { findIn } from "../units.ts";

export async function present(
  id: string,
  { place, machine }: { readonly place: Place; readonly machine: AdapterEnv },
): Promise<readonly PresentSession[]> {
  const { databases, trees } = await findIn(place);
  const remove = ["opencode", "session", "delete", ...argumentWords(id)];
  const found: PresentSession[] = [];
  for (const { path } of databases) {
    const row = await rowIn(path, id, machine.scratch);
    if (row !== undefined) found.push({ path, ...row, remove });
  }
  if (databases.length > 0) return found;
  return trees.flatMap(({ root, sessions }) => {
    const session = sessions.get(id);
    return session === undefined ? [] : [{ path: session.info?.path ?? join(place.path, root), remove }];
  });
}

/** Undefined where the database has no such session, or is none that could be asked: then nobody knows. */
async function rowIn(
  path: string,
  id: string,
  scratch: string,
): Promise<Required<Pick<PresentSession, "directory" | "messages">> | undefined> {
  try {
    await using file = await SqliteFile.open(path, scratch);
    if (!file.columns("session").includes("directory")) return undefined;
    const [row] = file.all("SELECT directory FROM session WHERE id = ?", id);
    if (row === undefined) return undefined;
    const messages = file.columns("message").includes("session_id")
      ? file.all("SELECT id FROM message WHERE session_id = ?", id)
      : [];
    return { directory: String(row["directory"]), messages: messages.map((each) => String(each["id"])) };
  } catch (error) {
    if (isPondError(error)) return undefined;
    throw error;
  }
}
