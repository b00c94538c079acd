/** A session of a JSON tree: one file a record, each rewritten in place (docs/adapters/opencode.md#layout). */
import { basename, dirname, join } from "node:path";
import type { JsonObject } from "../../../base/json/json.ts";
import { field, objectField } from "../../kit/extract/index.ts";
import { FolderReader } from "../../kit/folder/index.ts";
import { partFolder, stemOf } from "../layout.ts";
import type { MessageRecord, SourceRecord } from "../records/record.ts";
import { idOf, infoOf } from "../records/record.ts";
import type { SessionSource } from "../records/source.ts";
import type { Tree, TreeSession } from "../trees.ts";

export function openTreeSession(root: string, tree: Tree, session: TreeSession): SessionSource {
  const reader = new FolderReader(join(root, tree.root));
  const { info, project, messages, parts, side } = session;
  const record = info && reader.read(info.path);
  const isUnlisted = session.isUnlisted === true || reader.hasFaults;
  const scope = project && reader.read(project.path);
  const infos: TreeMessage[] = [];
  for (const { path } of messages) {
    const message = reader.read(path);
    if (message !== undefined) infos.push(message);
    else if (reader.isFaulty(path))
      infos.push({ value: { json: null }, stem: stemOf(path), at: 0, bytes: 0, isUnreadable: true });
  }
  infos.sort(inOrder);
  const read = new Set(infos.map((message) => join(reader.folder, partsOf(tree, session.id, message))));
  const strays = parts.filter(({ path }) => !read.has(dirname(path)));
  const facts = (record && infoOf(record)) ?? {};
  const all = [info, project, ...messages, ...parts, ...side];
  return {
    id: session.id,
    kind: "tree",
    key: session.key,
    container: tree.root,
    path: info?.path ?? join(root, session.key),
    ...(record === undefined ? {} : { info: record }),
    facts,
    scopes: [field(scopeFacts(scope), "worktree") ?? null, field(facts, "projectID") ?? null],
    ...(info === undefined ? { folder: folderName(root, tree) } : {}),
    ...(info === undefined && messages.length === 0 ? { isStray: true } : {}),
    newest: all.reduce((newest, stamp) => Math.max(newest, stamp?.mtime ?? 0), 0),
    count: infos.length,
    message: (index) => withParts(reader, tree, { session: session.id, info: infos[index] }),
    side: () => [
      ...reader.sideRecords([...(project === undefined ? [] : [project]), ...side]),
      ...reader.sideRecords(strays).map((stray) => ({ ...stray, isStray: true })),
    ],
    faults: () => reader.takeFaults(),
    isUnlisted,
    isPartial: session.isPartial === true,
  };
}

type TreeMessage = SourceRecord & Pick<MessageRecord, "isUnreadable">;

/** The folder of a message's parts, below the tree's: the client looks there by the id that the message tells. */
function partsOf({ era }: Tree, session: string, message: SourceRecord): string {
  return partFolder(era, session, idOf(message) ?? message.stem ?? "");
}

/** Before mid-2025 a project had a folder with its name, since then all have one. */
function folderName(root: string, { root: tree, era }: Tree): string {
  const folder = join(root, tree);
  return basename(era === "project" ? dirname(dirname(folder)) : dirname(folder));
}

function withParts(
  reader: FolderReader,
  tree: Tree,
  { session, info }: { readonly session: string; readonly info: TreeMessage | undefined },
): MessageRecord {
  if (info === undefined) throw new RangeError("no such message");
  const folder = partsOf(tree, session, info);
  const parts: SourceRecord[] = [];
  const names = reader.list(folder);
  let isUnreadable = info.isUnreadable === true || names === undefined;
  for (const name of names ?? []) {
    const path = join(reader.folder, folder, name);
    const part = reader.read(path);
    if (part !== undefined) parts.push(part);
    else if (reader.isFaulty(path)) isUnreadable = true;
  }
  return isUnreadable ? { ...info, parts, isUnreadable } : { ...info, parts };
}

function scopeFacts(scope: SourceRecord | undefined): JsonObject {
  return (scope && infoOf(scope)) ?? {};
}

/** As the client lists them: by the time that the record tells, then by id. */
export function inOrder(a: SourceRecord, b: SourceRecord): number {
  return createdOf(a) - createdOf(b) || byText(idOf(a) ?? "", idOf(b) ?? "");
}

export function createdOf(record: SourceRecord): number {
  const info = infoOf(record);
  const time = info && objectField(info, "time");
  const created = time && field(time, "created");
  return typeof created === "number" ? created : 0;
}

export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
