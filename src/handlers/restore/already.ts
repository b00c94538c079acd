/**
 * Whether a client has a session already that a restore would give it, in whichever of its folders
 * (spec.md#adapter-restore-once): a restore refuses a second one of the same id, a resume opens the one that is there.
 */
import { statSync } from "node:fs";
import { printFile } from "../../adapters/restore.ts";
import type { PondError } from "../../base/errors.ts";
import { isFolder } from "../../base/files/folders.ts";
import { brandOf, pondFacts } from "../../model/derived/index.ts";
import type { Session } from "../../model/index.ts";
import { knownReaderId } from "../../state/index.ts";
import type { WrittenFile } from "../../wire/restore.ts";
import type { Context } from "../context/context.ts";
import { realPathOf } from "../import/importer.ts";
import type { Already, Wanted } from "./copy.ts";
import { alreadyIn, directoryOf, partedFrom, partedFromLog, plainPath, turnsSinceRestore } from "./copy.ts";
import { presenceOf, targetsOf } from "./files/present.ts";
import {
  alreadyThere,
  anotherState,
  belongsTo,
  carriedOn,
  openedWith,
  otherContent,
  otherPaths,
  parted,
  putAway,
  restoredThere,
} from "./refusals.ts";

/** What becomes of the session: it is written, or the one that is there is opened, or neither. */
export type Use =
  | { readonly kind: "write" }
  | {
      readonly kind: "open";
      readonly file?: WrittenFile;
      /** The client finds it by its id from the directory. */
      readonly isListed: boolean;
      /** Where it works, where that is not what the session says. */
      readonly directory?: string;
    }
  | { readonly kind: "refuse"; readonly error: PondError };

const WRITE: Use = { kind: "write" };

export async function useOf(context: Context, wanted: Wanted): Promise<Use> {
  const { canReuse, restored } = wanted;
  const all = await alreadyIn(context, wanted);
  const own = all.filter(({ id }) => id === restored.resume.id);
  const [found] = own.toSorted((a, b) => rankOf(a) - rankOf(b));
  if (restored.fidelity === "foreign") return useOfCopy(context, wanted, found);
  const root = openedWith(wanted);
  if (canReuse && root !== undefined) return refuse(belongsTo(wanted, root));
  const elsewhere = [...own, ...all].find(({ isTarget, id }) => !isTarget && id !== root);
  if (!canReuse || found === undefined)
    return elsewhere === undefined ? WRITE : refuse(alreadyThere(wanted, elsewhere));
  if (restored.resume.imports !== undefined) return useOfImported(wanted, found);
  // A subagent, say, that is in another folder: written beside it, the client would have it twice.
  const hasElsewhere = all.some(({ id, isTarget }) => id !== restored.resume.id && !isTarget);
  return useOfLog(context, wanted, { ...found, hasElsewhere });
}

/** What is where it would be written comes first, what was put away last. */
const rankOf = ({ isTarget, getBack }: Already): number =>
  (getBack === undefined ? 0 : 2) + (isTarget ? 0 : 1);

const refuse = (error: PondError): Use => ({ kind: "refuse", error });

/** A session of another client: what was restored of it, whatever paths it was given and however far it went on there. */
async function useOfCopy(context: Context, wanted: Wanted, found: Already | undefined): Promise<Use> {
  if (found === undefined) return useOfNone(context, wanted);
  const { canReuse, isAsIs, isEarlier, restored } = wanted;
  if (found.getBack !== undefined) return refuse(putAway(wanted, found));
  const isImported = restored.resume.imports !== undefined;
  if (canReuse && isEarlier)
    return found.isTarget && !isImported
      ? useOfLog(context, wanted, found)
      : refuse(anotherState(wanted, found));
  const since = await partedFrom(context, wanted, found);
  // Nothing is recorded of it: then what is there must be what would be written.
  if (since === undefined) {
    if (isImported && canReuse) return open(context, wanted, found);
    return found.isTarget ? WRITE : refuse(alreadyThere(wanted, found));
  }
  if (since.origin > 0 && !(canReuse && isAsIs)) return refuse(parted(wanted, found, since));
  if (!canReuse) return refuse(restoredThere(wanted, found, since));
  return open(context, wanted, found);
}

/** The client has none: unless it has carried one on elsewhere, of which a new one would be an older copy. */
async function useOfNone(context: Context, wanted: Wanted): Promise<Use> {
  if (wanted.isOutNamed) return WRITE;
  const went = await carriedOnAs(wanted);
  if (went === undefined) return WRITE;
  return refuse(carriedOn(wanted, went, await turnsSinceRestore(context, wanted, went.id)));
}

/** The stored session of that client that pond restored this one into, or a fork that resumes it there; the latest. */
async function carriedOnAs({ store, adapter, session, restored }: Wanted): Promise<Session | undefined> {
  const children = await store.children(session.id);
  const resumed = children.filter(
    ({ relation, source_agent, options }) =>
      relation === "resume" &&
      brandOf(source_agent) === adapter.name &&
      pondFacts(options).restored !== undefined,
  );
  const byAge = resumed.toSorted((a, b) => b.created_at - a.created_at);
  return byAge.find(({ id }) => id === restored.resume.id) ?? byAge[0];
}

/** In the directory that it works in; in another one that is asked for where that is not on this machine any more. */
async function open(context: Context, wanted: Wanted, found: Already): Promise<Use> {
  const { restored, isMapped } = wanted;
  const there = (await directoryOf(context, wanted, found)) ?? restored.resume.directory;
  const isElsewhere = isMapped && there !== restored.resume.directory;
  if (isElsewhere && isFolder(there)) return refuse(otherPaths(wanted, found, there));
  const isImported = restored.resume.imports !== undefined;
  // An import of what its client has changes nothing but the directory.
  if (isElsewhere && isImported) return WRITE;
  return {
    kind: "open",
    isListed: found.isTarget || isImported,
    ...(isImported ? {} : { file: fileOf(wanted, found) }),
    ...(isElsewhere ? {} : { directory: there }),
  };
}

function fileOf({ restored, session }: Wanted, { path }: Already): WrittenFile {
  const log = restored.logs.find((each) => each.session === session.id)?.path;
  const file = restored.files.find((each) => each.path === log);
  const records = file?.kind === "jsonl" ? file.records.length : 1;
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return { path, records, bytes, kept: true };
}

/** What a client imported is changed by no further import, but for the directory that it is listed under. */
function useOfImported(wanted: Wanted, found: Already): Use {
  const { restored, session, isEarlier } = wanted;
  if (isEarlier) return refuse(anotherState(wanted, found));
  const { directory } = restored.resume;
  return directory === session.project || directory === found.directory
    ? { kind: "open", isListed: true }
    : WRITE;
}

/** A log is the session where it has what is stored, as it was recorded or as it is mapped now, whatever comes behind that. */
async function useOfLog(
  context: Context,
  wanted: Wanted,
  found: Already & { readonly hasElsewhere?: boolean },
): Promise<Use> {
  const { restored, unmapped, isEarlier, session } = wanted;
  if (found.getBack !== undefined) return refuse(putAway(wanted, found));
  for (const form of [restored, await unmapped()]) {
    const path = form.logs.find((log) => log.session === session.id)?.path;
    const file = form.files.find((each) => each.path === path);
    if (file === undefined) continue;
    const presence = await presenceOf({ file, target: plainPath(found.path) });
    if (presence !== "equal" && (presence !== "longer" || isEarlier)) continue;
    // What else belongs to it is written beside it where it is missing.
    const isOther = found.hasElsewhere === true || (await isAnotherBeside(wanted));
    if (found.isTarget && form === restored && !isOther) return WRITE;
    const records = file.kind === "jsonl" ? file.records.length : 1;
    const written = { path: found.path, records, bytes: printFile(file).length, kept: true };
    return { kind: "open", file: written, isListed: found.isTarget };
  }
  if (isEarlier) return refuse(anotherState(wanted, found));
  const since = await partedFromLog(context, wanted, found);
  const isOurs = await isRestoredAt(context, wanted, found);
  if (isOurs && since?.origin === 0) return open(context, wanted, found);
  return refuse(otherContent(wanted, found, { since, isOurs, isSource: await isSource(wanted, found) }));
}

/** A subagent, say, that was restored with other paths and not carried on: it is stored as it was recorded. */
async function isAnotherBeside({ out, restored, isEarlier }: Wanted): Promise<boolean> {
  for (const one of targetsOf(out, restored.files)) {
    const presence = await presenceOf(one);
    if (presence === "other" || (presence === "longer" && isEarlier)) return true;
  }
  return false;
}

/** Pond wrote that file: with other paths, as it is not what is stored. */
async function isRestoredAt({ config }: Context, wanted: Wanted, { path }: Already): Promise<boolean> {
  const { store, session, adapter } = wanted;
  const reader = knownReaderId(config.paths.state);
  const real = realPathOf(plainPath(path));
  return (await store.restoresOf([session.id])).some(
    (head) => head.adapter === adapter.name && head.reader === reader && head.path === real,
  );
}

/** A sync has read that file. */
async function isSource({ store, session }: Wanted, { path }: Already): Promise<boolean> {
  const real = realPathOf(path);
  const sources = (await store.views(session.id))?.history.sources ?? [];
  return sources.some(({ latest }) => latest?.path === real);
}
