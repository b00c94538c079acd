/** Canonical sessions to Claude Code's files (spec.md#adapter-restore): a whole lineage, natively or as a foreigner. */
import { optionWords } from "../../../base/shell.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import type { Session } from "../../../model/index.ts";
import type { SessionState } from "../../../model/events/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import type { LogInClient, Restored, SerializeOptions } from "../../kit/restore/index.ts";
import type { Loss } from "../../kit/foreign/index.ts";
import { extractString } from "../../kit/extract/index.ts";
import { recordedDirectories, serializeLogs, sourceOf } from "../../kit/restore/index.ts";
import { serializeForeign } from "./foreign.ts";
import { folderOf, joinPath, nameOf } from "../../kit/files/path-names.ts";
import { placeOfLog, slugOf } from "../layout.ts";
import { RECORDS } from "./native.ts";

/** Characters of a slug that the client uses before it cuts. */
const MAX_SLUG = 200;

export function serialize(lineage: Lineage, options: SerializeOptions): Restored {
  if (options.fidelity === "foreign") return serializeForeign(lineage, options);
  return serializeLogs(lineage, options, {
    ...RECORDS,
    clientPath: (log) => clientPath(log, options),
    withMappedPaths,
    directory: directoryOf,
    losses: lossesOf,
    resume: (own, { session }) => {
      const id = ownerOf(session) ?? own;
      return { id, words: ["claude", ...optionWords("--resume", id)], byPath: ["claude", "--resume"] };
    },
  });
}

/** A session belongs to the directory that its records name. */
function withMappedPaths(record: JsonObject, mapPath: SerializeOptions["mapPath"]): JsonObject {
  const cwd = extractString(record, "cwd");
  return cwd === undefined ? record : { ...record, cwd: mapPath(cwd) };
}

function lossesOf({ session }: SessionState): readonly Loss[] {
  const owner = ownerOf(session);
  if (owner === undefined) return [];
  const why = `Claude Code opens a subagent only from there: ${session.parent_session_id ?? owner}`;
  return [{ what: "session that it belongs to", affects: "record", why, count: 1 }];
}

/** The session that a subagent is opened from; undefined for one that stands on its own. */
function ownerOf(session: Session): string | undefined {
  const place = placeOfLog(logKeyOf(session));
  if (place.kind === "session") return undefined;
  return place.kind === "subagent" ? place.stem : session.parent_session_id;
}

/** Where the client of this machine looks, below its `projects` folder. Subagents stand by their session. */
function clientPath({ state, id, key, above }: LogInClient, options: SerializeOptions): string {
  const place = placeOfLog(key);
  if (place.kind === "session") return joinPath(projectFolder(state, key, options), `${id}.jsonl`);
  const folder = above?.split("/")[0] ?? folderAbove(state.session, options);
  if (place.kind === "agent") return joinPath(folder, `${place.stem}.jsonl`);
  return joinPath(folder, `${place.stem}/subagents/${place.child}.jsonl`);
}

/** A subagent by itself goes to the folder of the session that it was read below, which may have worked elsewhere. */
function folderAbove(session: Session, { mapPath }: SerializeOptions): string {
  const place = placeOfLog(logKeyOf(session));
  if (place.kind === "session") return "";
  const recorded = nameOf(place.kind === "subagent" ? folderOf(place.base) : place.folder);
  return recorded === "" || recorded === slugOf(session.project)
    ? slugOf(mapPath(session.project))
    : recorded;
}

/** The path of the log below the root it was first read from. */
function logKeyOf(session: Session): string {
  return extractString(sourceOf(session), "path") ?? "";
}

/** The client cuts the slug of a long path and adds a hash that only it can make: then the recorded name is right. */
function projectFolder(state: SessionState, key: string, { mapPath }: SerializeOptions): string {
  const directory = directoryOf(state);
  const mapped = mapPath(directory);
  const slug = slugOf(mapped);
  const recorded = nameOf(folderOf(key));
  const isLong = slug.length > MAX_SLUG && recorded.startsWith(slug.slice(0, MAX_SLUG));
  return isLong && mapped === directory ? recorded : slug;
}

/** Where the session worked on the machine that this state is of: its log stands in the folder of that name. */
function directoryOf(state: SessionState): string {
  const folder = nameOf(folderOf(state.source?.key ?? logKeyOf(state.session)));
  const { project } = state.session;
  if (folder === slugOf(project)) return project;
  return recordedDirectories(state).find((directory) => slugOf(directory) === folder) ?? project;
}
