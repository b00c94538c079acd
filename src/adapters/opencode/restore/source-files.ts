/** A session where it came from: the files of its tree, its export, or its rows (spec.md#adapter-restore). */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { RestoredFile, RestoredRow, RestoredTable } from "../../kit/restore/index.ts";
import { LossReport } from "../../kit/foreign/index.ts";
import { exportOf } from "./export.ts";
import { folderOf, joinPath } from "../../kit/files/path-names.ts";
import { partFolder, placeInTree } from "../layout.ts";
import type { NativeRecord, NativeSession } from "./native.ts";
import { STRAY_PARTS } from "../parse/database.ts";
import { idOf } from "../records/record.ts";

export function sourceFiles(session: NativeSession): readonly RestoredFile[] {
  if (session.kind === "tree") return treeFiles(session);
  if (session.bytes !== undefined) return [{ kind: "bytes", path: session.key, data: session.bytes }];
  if (session.kind === "export") {
    const value = exportOf(session, (path) => path, new LossReport());
    return [{ kind: "json", path: session.key, value }];
  }
  const tables = session.kind === "go" ? goTables(session) : databaseTables(session);
  return [{ kind: "rows", path: session.key, tables }, ...sideFiles(session, folderOf(session.key))];
}

function treeFiles(session: NativeSession): readonly RestoredFile[] {
  const root = treeRoot(session);
  const era = placeInTree(session.key)?.era ?? "storage";
  const files: RestoredFile[] = [];
  if (session.info !== undefined) files.push(fileOf(session.key, session.info));
  for (const message of session.messages) {
    const stem = message.stem ?? "";
    files.push(fileOf(joinPath(root, `message/${session.id}/${stem}.json`), message));
    const folder = joinPath(root, partFolder(era, session.id, idOf(message) ?? stem));
    for (const part of message.parts) files.push(fileOf(`${folder}/${part.stem ?? ""}.json`, part));
  }
  return [...files, ...sideFiles(session, root)];
}

/** A session without its own record is known by the folder of its messages. */
function treeRoot({ key, id }: NativeSession): string {
  return placeInTree(key)?.root ?? placeInTree(`${key}/${id}.json`)?.root ?? "";
}

function sideFiles(session: NativeSession, folder: string): readonly RestoredFile[] {
  return [...session.files].map(([name, content]): RestoredFile => {
    const path = joinPath(folder, name);
    return "json" in content
      ? { kind: "json", path, value: content.json }
      : { kind: "bytes", path, data: content.data };
  });
}

function fileOf(path: string, { value }: NativeRecord): RestoredFile {
  if ("json" in value) return { kind: "json", path, value: value.json };
  return { kind: "bytes", path, data: Buffer.from(value.raw, value.encoding ?? "utf8") };
}

function databaseTables(session: NativeSession): readonly RestoredTable[] {
  const own = { where: "session_id = ?", value: session.id };
  const parts = session.messages.flatMap((message) => message.parts);
  return [
    ...(session.info?.columns === undefined
      ? []
      : [
          {
            name: "session",
            where: "id = ?",
            value: session.id,
            key: ["id"],
            rows: [plain(session.info.columns)],
          },
        ]),
    { name: "message", ...own, key: ["id"], rows: session.messages.map((message) => rowOf(message, "data")) },
    {
      name: "part",
      where: "message_id IN (SELECT id FROM message WHERE session_id = ?)",
      value: session.id,
      key: ["id"],
      rows: parts.map((part) => rowOf(part, "data")),
    },
    ...sideTables(session),
  ];
}

function goTables(session: NativeSession): readonly RestoredTable[] {
  return [
    ...(session.info?.columns === undefined
      ? []
      : [
          {
            name: "sessions",
            where: "id = ?",
            value: session.id,
            key: ["id"],
            rows: [plain(session.info.columns)],
          },
        ]),
    {
      name: "messages",
      where: "session_id = ?",
      value: session.id,
      key: ["id"],
      rows: session.messages.map((message) => rowOf(message, "parts")),
    },
    ...sideTables(session),
  ];
}

/** A row has no other name than all that it says where its table has no id. */
function sideTables({ tables, id }: NativeSession): readonly RestoredTable[] {
  return [...tables].map(([name, rows]) => ({
    name,
    // Of parts only those stand here whose message is not there.
    where: name === "part" ? STRAY_PARTS : "session_id = ?",
    value: id,
    key: Object.keys(rows[0] ?? {}).includes("id") ? ["id"] : Object.keys(rows[0] ?? {}),
    rows: rows.map(plain),
  }));
}

function plain(columns: JsonObject): RestoredRow {
  return { columns, json: {} };
}

function rowOf({ columns = {}, value }: NativeRecord, column: string): RestoredRow {
  if ("json" in value) return { columns, json: { [column]: value.json } };
  const text: JsonValue = value.encoding === "base64" ? { blob: value.raw } : value.raw;
  return { columns: { ...columns, [column]: text }, json: {} };
}
