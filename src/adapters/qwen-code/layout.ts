/** How Qwen Code names files: `<projects>/<directory>/chats/<session id>.jsonl` (docs/adapters/qwen-code.md#layout). */

/** The brand: the part of `source_agent` before the first `/`. */
export const ADAPTER = "qwen-code";

export const EXTENSION = ".jsonl";

/** Below the folder of the session that started it, at whatever depth; or right below `subagents`. */
const SUBAGENT = /(?:^|\/)subagents\/(?:[^/]+\/)?(.+)\.jsonl$/;

/** The name of a subagent's log below its session's folder, without extension; undefined for any other log. */
export function subagentIn(key: string): string | undefined {
  return SUBAGENT.exec(key)?.[1];
}

/** Whether the client can name a file by a session's id. */
export const isFileName = (id: string): boolean => /^[\w.-]{1,200}$/.test(id) && !/^\.+$/.test(id);

/** The folder in which Qwen Code keeps the sessions of a working directory. */
export function folderFor(directory: string): string {
  return directory.replaceAll(/[^a-zA-Z0-9]/g, "-");
}
