/**
 * Canonical sessions to opencode's form (spec.md#adapter-restore). Where they came from: the files of a tree, an export,
 * or the rows of a database. For today's client: one importable export a session, whatever they came from.
 */
import { optionWords } from "../../../base/shell.ts";
import type { SessionState } from "../../../model/events/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import type {
  Restored,
  RestoredFile,
  RestoredLog,
  RestoredRows,
  Resume,
  SerializeOptions,
} from "../../kit/restore/index.ts";
import { extractString, objectField } from "../../kit/extract/index.ts";
import { LossReport } from "../../kit/foreign/index.ts";
import { RestoredFiles } from "../../kit/restore/index.ts";
import { exportOf } from "./export.ts";
import { foreignExports } from "./foreign.ts";
import type { NativeSession } from "./native.ts";
import { nativeSession } from "./native.ts";
import { sourceFiles } from "./source-files.ts";

/** The folder, below the client's own, of exports that wait for `opencode import`. */
const EXPORTS = "pond";

export function serialize(lineage: Lineage, options: SerializeOptions): Restored {
  const isForeign = options.fidelity === "foreign" || (options.layout === "client" && isOfGo(lineage));
  if (isForeign) return restoreForeign(lineage, options);
  const sessions = statesOf(lineage).map(nativeSession);
  const losses = new LossReport();
  const { files, logs } =
    options.layout === "source"
      ? { files: merged(sessions.flatMap(sourceFiles)), logs: [] }
      : exportsOf(sessions, statesOf(lineage), { mapPath: options.mapPath, losses });
  return {
    fidelity: "native",
    files,
    logs,
    losses: losses.list(),
    resume: resumeOf(
      sessions.map(({ id }) => id),
      lineage,
      options,
    ),
  };
}

interface Exporting {
  readonly mapPath: SerializeOptions["mapPath"];
  readonly losses: LossReport;
}

/** One export a session. The client has one session of an id: a copy with other content is not for it to import. */
function exportsOf(
  sessions: readonly NativeSession[],
  states: readonly SessionState[],
  { mapPath, losses }: Exporting,
): Pick<Restored, "files" | "logs"> {
  const files = new RestoredFiles();
  const logs = sessions.flatMap((session, index): readonly RestoredLog[] => {
    const owner = states[index]?.session.id;
    if (owner === undefined) return [];
    const wanted = pathOf(session.id);
    const path = files.add(exportFile(session, wanted, { mapPath, losses }), owner);
    if (path !== wanted)
      losses.add("copy of a session", "opencode has one session per id, so the copy is not imported");
    return [{ path, session: owner }];
  });
  return { files: files.list(), logs };
}

function exportFile(session: NativeSession, path: string, { mapPath, losses }: Exporting): RestoredFile {
  if (session.bytes === undefined) return { kind: "json", path, value: exportOf(session, mapPath, losses) };
  losses.add("value that is not JSON", "it is not JSON, and the client would refuse it");
  return { kind: "bytes", path, data: session.bytes };
}

function pathOf(id: string): string {
  return `${EXPORTS}/${id}.json`;
}

function restoreForeign(lineage: Lineage, options: SerializeOptions): Restored {
  const losses = new LossReport();
  const exports = foreignExports(lineage, options, losses);
  return {
    fidelity: "foreign",
    files: exports.map(({ id, value }) => ({ kind: "json", path: pathOf(id), value })),
    logs: exports.map(({ id, session, handedOver }) => ({ path: pathOf(id), session, handedOver })),
    losses: losses.list(),
    resume: resumeOf(
      exports.map(({ id }) => id),
      lineage,
      options,
    ),
  };
}

/** The first opencode is no more: for today's client its sessions are as foreign as another client's. */
function isOfGo(lineage: Lineage): boolean {
  const source = objectField(lineage.state.session.options, "source");
  return source !== undefined && extractString(source, "kind") === "go";
}

function statesOf({ state, children }: Lineage): readonly SessionState[] {
  return [state, ...children.flatMap(statesOf)];
}

/** Sessions of one tree share their project's file, and those of one database its file. */
function merged(files: readonly RestoredFile[]): readonly RestoredFile[] {
  const byPath = new Map<string, RestoredFile>();
  for (const file of files) {
    const known = byPath.get(file.path);
    if (known?.kind === "rows" && file.kind === "rows") byPath.set(file.path, joined(known, file));
    else if (known === undefined) byPath.set(file.path, file);
  }
  return [...byPath.values()];
}

function joined(a: RestoredRows, b: RestoredRows): RestoredRows {
  return { ...a, tables: [...a.tables, ...b.tables] };
}

/** Children first would dangle: the client takes sessions in any order, but people read from the top. */
function resumeOf(ids: readonly string[], lineage: Lineage, { mapPath }: SerializeOptions): Resume {
  const [id = ""] = ids;
  return {
    id,
    directory: mapPath(lineage.state.session.project),
    words: ["opencode", ...optionWords("--session", id)],
    imports: { words: ["opencode", "import"], files: [...new Set(ids)].map(pathOf) },
  };
}
