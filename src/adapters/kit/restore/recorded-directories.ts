/** The working folders that the records of a state name, in order: those of another end may name others. */
import { isJsonObject } from "../../../base/json/json.ts";
import type { SessionState } from "../../../model/events/index.ts";
import { extractString, objectField } from "../extract/extract.ts";

export function recordedDirectories({ messages }: SessionState): readonly string[] {
  const found = new Set<string>();
  for (const { message } of messages) {
    const record = objectField(message.options, "source")?.["record"];
    if (!isJsonObject(record)) continue;
    const directory =
      extractString(record, "cwd") ?? extractString(objectField(record, "payload") ?? {}, "cwd");
    if (directory !== undefined && directory !== "") found.add(directory);
  }
  return [...found];
}
