/** How Qwen Code names files: `<projects>/<directory>/chats/<session id>.jsonl` (docs/adapters/qwen-code.md#layout). */

/** The brand: the part of `source_agent` before the first `/`. */
export const ADAPTER = "qwen-code";

export const EXTENSION = ".jsonl";

const SUBAGENT = /(?:^|\/)subagents\/[^/]+\/([^/]+)\.jsonl$/;

/** The name of a subagent's log without extension; undefined for any other log. */
export function subagentIn(key: string): string | undefined {
  return SUBAGENT.exec(key)?.[1];
}

/** The folder in which Qwen Code keeps the sessions of a working directory. */
export function folderFor(directory: string): string {
  return directory.replaceAll(/[^a-zA-Z0-9]/g, "-");
}
