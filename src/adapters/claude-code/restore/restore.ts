/** Canonical sessions to Claude Code's files (spec.md#adapter-restore): a whole lineage, natively or as a foreigner. */
import { optionWords } from "../../../base/shell.ts";
import { PondError } from "../../../base/errors.ts";
import type { Session } from "../../../model/index.ts";
import type { SessionState } from "../../../model/events/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import type { Restored, RestoredLog, SerializeOptions } from "../../kit/restore/index.ts";
import { extractString } from "../../kit/extract/index.ts";
import { recordedDirectories, RestoredFiles, sourceOf } from "../../kit/restore/index.ts";
import { serializeForeign } from "./foreign.ts";
import type { LogPlace } from "../layout.ts";
import { folderOf, joinPath, nameOf } from "../../kit/files/path-names.ts";
import { placeOfLog, slugOf } from "../layout.ts";
import { recordsOf, sideFilesOf } from "./native.ts";

/** Characters of a slug that the client uses before it cuts. */
const MAX_SLUG = 200;

export function serialize(lineage: Lineage, options: SerializeOptions): Restored {
  return options.fidelity === "native"
    ? serializeNative(lineage, options)
    : serializeForeign(lineage, options);
}

/** Every file of the lineage, equal by value to its source. */
function serializeNative(lineage: Lineage, options: SerializeOptions): Restored {
  const files = new RestoredFiles();
  const logs: RestoredLog[] = [];
  const { session } = lineage.state;
  addLineage(lineage, { files, logs, options, folder: folderAbove(session, options) });
  const owner = ownerOf(session);
  const id = owner ?? ownId(session);
  return {
    fidelity: "native",
    files: files.list(),
    logs,
    losses:
      owner === undefined
        ? []
        : [
            {
              what: "session that it belongs to",
              affects: "record",
              why: `Claude Code opens a subagent only from there: ${session.parent_session_id ?? owner}`,
              count: 1,
            },
          ],
    resume: {
      id,
      directory: options.mapPath(directoryOf(lineage.state)),
      words: ["claude", ...optionWords("--resume", id)],
      byPath: ["claude", "--resume"],
    },
  };
}

/** The session that a subagent is opened from; undefined for one that stands on its own. */
function ownerOf(session: Session): string | undefined {
  const place = placeOfLog(keyOf(session));
  if (place.kind === "session") return undefined;
  return place.kind === "subagent" ? place.stem : session.parent_session_id;
}

/** A subagent by itself goes to the folder of the session that it was read below, which may have worked elsewhere. */
function folderAbove(session: Session, { mapPath }: SerializeOptions): string {
  const place = placeOfLog(keyOf(session));
  if (place.kind === "session") return "";
  const recorded = nameOf(place.kind === "subagent" ? folderOf(place.base) : place.folder);
  return recorded === "" || recorded === slugOf(session.project)
    ? slugOf(mapPath(session.project))
    : recorded;
}

interface Target {
  readonly files: RestoredFiles;
  readonly logs: RestoredLog[];
  readonly options: SerializeOptions;
  /** The project folder of the session that the lineage hangs off; subagents stand there wherever they worked. */
  readonly folder: string;
}

function addLineage({ state, children }: Lineage, target: Target): void {
  const key = state.source?.key ?? keyOf(state.session);
  const place = placeOfLog(key);
  const folder = place.kind === "session" ? projectFolder(state, key, target.options) : target.folder;
  addSession(
    state,
    target,
    target.options.layout === "source" ? key : clientPath(state.session, place, folder),
  );
  for (const child of children) addLineage(child, { ...target, folder });
}

function addSession(state: SessionState, { files, logs, options }: Target, log: string): void {
  const records = recordsOf(state, options.mapPath);
  const { id } = state.session;
  if (records.length > 0)
    logs.push({ path: files.add({ kind: "jsonl", path: log, records }, id), session: id });
  for (const [name, data] of sideFilesOf(state))
    files.add({ kind: "bytes", path: joinPath(folderOf(log), name), data }, id);
}

/** The id that the client knows the session by. */
function ownId(session: Session): string {
  return extractString(sourceOf(session), "session_id") ?? session.id;
}

/** The path of the log below the root it was read from. */
function keyOf(session: Session): string {
  const key = extractString(sourceOf(session), "path");
  if (key !== undefined) return key;
  throw new PondError("validation_failed", `session ${session.id} does not say which file it came from`, {
    reason: "unsupported",
    hint: "restore it as foreign",
  });
}

/** Where the client of this machine looks, below its `projects` folder. */
function clientPath(session: Session, place: LogPlace, folder: string): string {
  if (place.kind === "session") return joinPath(folder, `${ownId(session)}.jsonl`);
  if (place.kind === "agent") return joinPath(folder, `${place.stem}.jsonl`);
  return joinPath(folder, `${place.stem}/subagents/${place.child}.jsonl`);
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
  const folder = nameOf(folderOf(state.source?.key ?? keyOf(state.session)));
  const { project } = state.session;
  if (folder === slugOf(project)) return project;
  return recordedDirectories(state).find((directory) => slugOf(directory) === folder) ?? project;
}
