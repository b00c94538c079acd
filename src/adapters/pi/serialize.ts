/** Canonical sessions to pi's files (spec.md#adapter-restore): a whole lineage, natively or as a foreigner. */
import { optionWords } from "../../base/shell.ts";
import { PondError } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { Session, SessionState } from "../../model/index.ts";
import type { Lineage, RawLine, Restored, RestoredLog, SerializeOptions } from "../seam/index.ts";
import { extractString, isRawLine, objectField, recordedDirectories, RestoredFiles } from "../seam/index.ts";
import { serializeForeign } from "./foreign.ts";
import { isHeader } from "./head.ts";
import { idInName, nameOf, stemOf } from "./names.ts";
import { recordsOf } from "./native.ts";
import { fileNameFor, folderFor } from "./placement.ts";

export function serialize(lineage: Lineage, options: SerializeOptions): Restored {
  return options.fidelity === "foreign"
    ? serializeForeign(lineage, options)
    : serializeNative(lineage, options);
}

/** Every file of the lineage, equal by value to its source. */
function serializeNative(lineage: Lineage, options: SerializeOptions): Restored {
  const files = new RestoredFiles();
  const logs: RestoredLog[] = [];
  addLineage(lineage, { files, logs, options });
  const { session } = lineage.state;
  const id = ownId(session);
  const directory = options.mapPath(directoryOf(lineage.state));
  return {
    fidelity: "native",
    files: files.list(),
    logs,
    losses: [],
    resume: { id, directory, words: ["pi", ...optionWords("--session", id)], byPath: ["pi", "--session"] },
  };
}

interface Target {
  readonly files: RestoredFiles;
  readonly logs: RestoredLog[];
  readonly options: SerializeOptions;
}

function addLineage({ state, children }: Lineage, target: Target): void {
  const { files, logs, options } = target;
  const { id } = state.session;
  const records = recordsOf(state).map((record) => withMappedPaths(record, options.mapPath));
  const path = options.layout === "source" ? keyOf(state) : clientPath(state, options);
  if (records.length > 0) logs.push({ path: files.add({ kind: "jsonl", path, records }, id), session: id });
  for (const child of children) addLineage(child, target);
}

/** The id that the client knows the session by. */
function ownId(session: Session): string {
  return extractString(objectField(session.options, "source") ?? {}, "session_id") ?? session.id;
}

/** The path of the log below the root it was read from. */
function keyOf({ session, source }: SessionState): string {
  const key = source?.key ?? extractString(objectField(session.options, "source") ?? {}, "path");
  if (key !== undefined) return key;
  throw new PondError("validation_failed", `session ${session.id} does not say which file it came from`, {
    reason: "unsupported",
    hint: "restore it as foreign",
  });
}

/** Where the client of this machine looks, below its `sessions` folder. */
function clientPath(state: SessionState, { mapPath }: SerializeOptions): string {
  const { session } = state;
  const key = keyOf(state);
  const id = ownId(session);
  const name = idInName(stemOf(key)) === id ? nameOf(key) : fileNameFor(session.created_at, id);
  return `${folderFor(mapPath(directoryOf(state)))}/${name}`;
}

/** As its own header tells it: that of another source may tell another. */
const directoryOf = (state: SessionState): string => recordedDirectories(state)[0] ?? state.session.project;

/** The header holds the paths that pi goes by. */
function withMappedPaths(
  record: JsonValue | RawLine,
  mapPath: SerializeOptions["mapPath"],
): JsonValue | RawLine {
  if (isRawLine(record) || !isJsonObject(record) || !isHeader(record)) return record;
  const mapped: Record<string, JsonValue> = {};
  for (const name of ["cwd", "parentSession", "branchedFrom", "legacyParentSessionPath"]) {
    const path = extractString(record, name);
    if (path !== undefined && mapPath(path) !== path) mapped[name] = mapPath(path);
  }
  return { ...record, ...mapped };
}
