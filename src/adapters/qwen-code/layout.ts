/** How Qwen Code names files: `<projects>/<directory>/chats/<session id>.jsonl` (docs/adapters/qwen-code.md#layout). */
import { stemOf } from "../kit/files/path-names.ts";

/** The brand: the part of `source_agent` before the first `/`. */
export const ADAPTER = "qwen-code";

export const EXTENSION = ".jsonl";

/** In the folder of a project: its sessions, and the folders of their subagents. */
export const CHATS = "chats";
export const SUBAGENTS = "subagents";

/** Where the log of a subagent stands, where its path tells that it is one. */
export interface SubagentPlace {
  /** The folder of its project; empty where the path begins below it. */
  readonly project: string;
  /** The folder of the session that started it, by whose id it is called; undefined right below `subagents`. */
  readonly session: string | undefined;
  /** Its name below that folder, at whatever depth, without extension. */
  readonly name: string;
  /** Its path below the project. */
  readonly path: string;
}

/** By the path of a log; undefined where it does not stand below a folder `subagents`. */
export function subagentAt(path: string): SubagentPlace | undefined {
  const folders = path.split("/");
  const file = folders.pop() ?? "";
  const at = folders.indexOf(SUBAGENTS);
  if (at === -1) return undefined;
  const [session, ...inner] = folders.slice(at + 1);
  return {
    project: folders[at - 1] ?? "",
    session,
    name: [...inner, stemOf(file, EXTENSION)].join("/"),
    path: path.split("/").slice(at).join("/"),
  };
}

/** How the client names the log of a subagent. */
export const subagentLog = (agent: string): string => `agent-${agent}`;

/** Below the folder of its project, where the client looks for it. */
export const subagentPath = (session: string, name: string): string =>
  `${SUBAGENTS}/${session}/${name}${EXTENSION}`;

/** Whether the client can name a file by a session's id. */
export const isFileName = (id: string): boolean => /^[\w.-]{1,200}$/.test(id) && !/^\.+$/.test(id);

/** The folder in which Qwen Code keeps the sessions of a working directory. */
export function folderFor(directory: string): string {
  return directory.replaceAll(/[^a-zA-Z0-9]/g, "-");
}
