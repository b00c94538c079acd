/**
 * A session as `opencode export` prints it and `opencode import` reads it (docs/adapters/opencode.md#restore), from
 * whatever container it came: equal, value for value, to what the client itself would print.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject, tryParseJson } from "../../../base/json/json.ts";
import type { LossReport } from "../../kit/foreign/index.ts";
import type { SerializeOptions } from "../../kit/restore/index.ts";
import { defineField, extractString, field, objectField } from "../../kit/extract/index.ts";
import { folderOf, nameOf } from "../../kit/files/path-names.ts";
import type { NativeMessage, NativeRecord, NativeSession } from "./native.ts";

type MapPath = SerializeOptions["mapPath"];

/** `losses` gets what cannot stand in an export: records that are no JSON, and what has no place in it. */
export function exportOf(session: NativeSession, mapPath: MapPath, losses: LossReport): JsonObject {
  const info = infoOf(session) ?? {};
  const messages = session.messages.flatMap((message) => messageOf(message, { mapPath, losses }));
  for (const file of session.files.keys())
    losses.add("file beside the session", `an export contains none of ${nameOf(folderOf(file))}`);
  for (const table of session.tables.keys())
    losses.add("rows beside the session", `an export contains none of the table ${table}`);
  // The session first: by that an export is told from other JSON without reading all of it.
  return { info: withDirectory(info, mapPath), messages, ...session.beside };
}

function infoOf({ info }: NativeSession): JsonObject | undefined {
  if (info === undefined) return undefined;
  if (info.columns !== undefined) return infoOfRow(info.columns);
  return "json" in info.value && isJsonObject(info.value.json) ? info.value.json : undefined;
}

function messageOf(
  message: NativeMessage,
  { mapPath, losses }: { readonly mapPath: MapPath; readonly losses: LossReport },
): readonly JsonValue[] {
  const info = valueOf(message, { id: "id", session_id: "sessionID" });
  if (message.beside === "whole") return info === undefined ? [] : [info];
  if (info === undefined) {
    losses.add("value that is not JSON", "a message: the client would refuse the whole export");
    return [];
  }
  const parts = message.parts.flatMap((part): readonly JsonValue[] => {
    const value = valueOf(part, { id: "id", session_id: "sessionID", message_id: "messageID" });
    if (value === undefined)
      losses.add("value that is not JSON", "a part: the client would refuse the whole export");
    return value === undefined ? [] : [value];
  });
  return [{ ...message.beside, info: withPath(info, mapPath), parts }];
}

/** A record with the ids that a database keeps in columns. */
function valueOf(
  { value, columns }: NativeRecord,
  names: Readonly<Record<string, string>>,
): JsonValue | undefined {
  if (!("json" in value)) return undefined;
  if (columns === undefined || !isJsonObject(value.json)) return value.json;
  const merged: Record<string, JsonValue> = { ...value.json };
  for (const [column, name] of Object.entries(names)) {
    const id = field(columns, column);
    if (id !== undefined) defineField(merged, name, id);
  }
  return merged;
}

function withDirectory(info: JsonObject, mapPath: MapPath): JsonObject {
  const directory = extractString(info, "directory");
  if (directory === undefined || mapPath(directory) === directory) return info;
  return { ...info, directory: mapPath(directory) };
}

function withPath(info: JsonValue, mapPath: MapPath): JsonValue {
  const path = isJsonObject(info) ? objectField(info, "path") : undefined;
  if (!isJsonObject(info) || path === undefined) return info;
  const mapped: Record<string, JsonValue> = { ...path };
  for (const name of ["cwd", "root"]) {
    const directory = extractString(path, name);
    if (directory !== undefined) mapped[name] = mapPath(directory);
  }
  return { ...info, path: mapped };
}

/** As the client reads a row of its `session` table (`Session.fromRow`). */
function infoOfRow(row: JsonObject): JsonObject {
  const recorded = (name: string): JsonValue | undefined => {
    const value = field(row, name);
    return value === null ? undefined : value;
  };
  const parsed = (name: string): JsonValue | undefined => {
    const text = recorded(name);
    const json = typeof text === "string" ? tryParseJson(text) : undefined;
    return json?.kind === "value" && json.value !== null ? json.value : undefined;
  };
  const counts = ["summary_additions", "summary_deletions", "summary_files"] as const;
  const summary = counts.some((name) => recorded(name) !== undefined)
    ? {
        additions: recorded(counts[0]) ?? 0,
        deletions: recorded(counts[1]) ?? 0,
        files: recorded(counts[2]) ?? 0,
        ...present({ diffs: parsed("summary_diffs") }),
      }
    : undefined;
  const url = recorded("share_url");
  const hasTokens = recorded("tokens_input") !== undefined;
  const data = parsed("data");
  return {
    ...(isJsonObject(data) ? data : {}),
    ...present({
      id: recorded("id"),
      slug: recorded("slug"),
      projectID: recorded("project_id"),
      workspaceID: recorded("workspace_id"),
      directory: recorded("directory"),
      path: recorded("path"),
      parentID: recorded("parent_id"),
      title: recorded("title"),
      agent: recorded("agent"),
      model: parsed("model"),
      version: recorded("version"),
      summary,
      cost: recorded("cost"),
      tokens: hasTokens
        ? {
            input: recorded("tokens_input") ?? 0,
            output: recorded("tokens_output") ?? 0,
            reasoning: recorded("tokens_reasoning") ?? 0,
            cache: { read: recorded("tokens_cache_read") ?? 0, write: recorded("tokens_cache_write") ?? 0 },
          }
        : undefined,
      share: url === undefined || url === "" ? undefined : { url },
      metadata: parsed("metadata"),
      revert: parsed("revert"),
      permission: parsed("permission"),
    }),
    time: present({
      created: recorded("time_created") ?? recorded("created_at"),
      updated: recorded("time_updated") ?? recorded("updated_at"),
      compacting: recorded("time_compacting"),
      archived: recorded("time_archived"),
    }),
  };
}

function present(values: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(values).filter((pair): pair is [string, JsonValue] => pair[1] !== undefined),
  );
}
