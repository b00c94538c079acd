/** Canonical sessions to pi's files (spec.md#adapter-restore): a whole lineage, natively or as a foreigner. */
import { PondError } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { Session, SessionState } from "../../model/index.ts";
import type { Lineage, RawLine, Restored, RestoredFile, SerializeOptions } from "../seam/index.ts";
import { copyId, extractString, isRawLine, objectField } from "../seam/index.ts";
import { serializeForeign } from "./foreign.ts";
import { isHeader } from "./head.ts";
import { EXTENSION, idInName, nameOf, stemOf } from "./names.ts";
import { recordsOf } from "./native.ts";
import { fileNameFor, folderFor } from "./placement.ts";

export function serialize(lineage: Lineage, options: SerializeOptions): Restored {
  return options.fidelity === "foreign"
    ? serializeForeign(lineage, options)
    : serializeNative(lineage, options);
}

/** Every file of the lineage, equal by value to its source. */
function serializeNative(lineage: Lineage, options: SerializeOptions): Restored {
  const files = new Map<string, RestoredFile>();
  addLineage(lineage, files, options);
  const { session } = lineage.state;
  const id = ownId(session);
  const directory = options.mapPath(session.project);
  return {
    fidelity: "native",
    files: [...files.values()],
    losses: [],
    resume: { id, directory, command: `pi --session ${id}` },
  };
}

function addLineage(
  { state, children }: Lineage,
  files: Map<string, RestoredFile>,
  options: SerializeOptions,
): void {
  const records = recordsOf(state).map((record) => withMappedPaths(record, options.mapPath));
  const path = freePath(
    files,
    options.layout === "source" ? keyOf(state) : clientPath(state, options),
    state,
  );
  if (records.length > 0) files.set(path, { kind: "jsonl", path, records });
  for (const child of children) addLineage(child, files, options);
}

/** Two copies of a session may both belong to a lineage: the second one stands beside the first. */
function freePath(files: ReadonlyMap<string, RestoredFile>, path: string, { session }: SessionState): string {
  if (!files.has(path)) return path;
  return path.slice(0, -EXTENSION.length) + copyId("", session.id) + EXTENSION;
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
  return `${folderFor(mapPath(session.project))}/${name}`;
}

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
