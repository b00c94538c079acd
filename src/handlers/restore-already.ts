/**
 * Whether a client has a session already that a restore would give it, in whichever of its folders
 * (spec.md#adapter-restore-once): a restore refuses a second one of the same id, a resume opens the one that is there.
 */
import { join } from "node:path";
import type { Adapter, Place, PresentSession, Restored } from "../adapters/index.ts";
import { placesThatExist, printFile } from "../adapters/index.ts";
import { PondError } from "../base/errors.ts";
import { optionWords, pondCommand, shellLine, shellWord } from "../base/shell.ts";
import type { Session } from "../model/index.ts";
import type { Context } from "./context.ts";
import type { WrittenFile } from "./restore-files.ts";
import { presenceOf } from "./restore-present.ts";

export interface Wanted {
  readonly adapter: Adapter & { readonly restore: { readonly kind: "supported" } };
  /** Where the client keeps sessions on this machine. */
  readonly looks: readonly Place[];
  readonly session: Session;
  readonly out: string;
  readonly restored: Restored;
  /** The same without mapped paths. */
  readonly unmapped: () => Promise<Restored>;
  /** It is to be resumed: one that is there is as good as one that is written. */
  readonly canReuse: boolean;
  /** A state is asked for that is not the newest. */
  readonly isEarlier: boolean;
}

/** What becomes of the session: it is written, or the one that is there is opened, or neither. */
export type Use =
  | { readonly kind: "write" }
  | { readonly kind: "open"; readonly file?: WrittenFile; readonly isListed: boolean }
  | { readonly kind: "refuse"; readonly path: string; readonly error: PondError };

const WRITE: Use = { kind: "write" };

export async function useOf(context: Context, wanted: Wanted): Promise<Use> {
  const { canReuse, restored } = wanted;
  const all = await alreadyIn(context, wanted);
  const own = all.filter(({ id }) => id === restored.resume.id);
  const elsewhere = [...own, ...all].find(({ isTarget }) => !isTarget);
  if (!canReuse) return elsewhere === undefined ? WRITE : refuse(wanted, elsewhere);
  const [found] = own.toSorted((a, b) => Number(b.isTarget) - Number(a.isTarget));
  if (found === undefined) return elsewhere === undefined ? WRITE : refuse(wanted, elsewhere);
  if (restored.resume.imports !== undefined) return useOfImported(wanted, found);
  if (restored.fidelity === "native" || (found.isTarget && wanted.isEarlier)) return useOfLog(wanted, found);
  return found.isTarget ? WRITE : refuse(wanted, found);
}

/** What a client imported is changed by no further import, but for the directory that it is listed under. */
function useOfImported(wanted: Wanted, found: Already): Use {
  const { restored, session, isEarlier } = wanted;
  if (isEarlier) return { kind: "refuse", path: found.path, error: anotherState(wanted, found) };
  if (restored.fidelity === "foreign") return WRITE;
  const { directory } = restored.resume;
  return directory === session.project || directory === found.directory
    ? { kind: "open", isListed: true }
    : WRITE;
}

/** A log is the session where it has what is stored, as it was recorded or as it is mapped now, whatever comes behind that. */
async function useOfLog(wanted: Wanted, found: Already): Promise<Use> {
  const { restored, unmapped, isEarlier } = wanted;
  if (found.getBack !== undefined) return { kind: "refuse", path: found.path, error: putAway(wanted, found) };
  for (const form of [restored, await unmapped()]) {
    const path = form.logs.find(({ session }) => session === wanted.session.id)?.path;
    const file = form.files.find((each) => each.path === path);
    if (file === undefined) continue;
    const presence = await presenceOf({ file, target: found.path.replace(/\.zst$/, "") });
    if (presence !== "equal" && (presence !== "longer" || isEarlier)) continue;
    // What else belongs to it is written beside it where it is missing.
    if (found.isTarget && form === restored) return WRITE;
    const records = file.kind === "jsonl" ? file.records.length : 1;
    const written = { path: found.path, records, bytes: printFile(file).length, kept: true };
    return { kind: "open", file: written, isListed: found.isTarget };
  }
  if (isEarlier) return { kind: "refuse", path: found.path, error: anotherState(wanted, found) };
  return found.isTarget ? WRITE : { kind: "refuse", path: found.path, error: otherContent(found) };
}

/** A session that the client has, and the id that it has it by. */
interface Already extends PresentSession {
  readonly id: string;
  /** It is where the restore would put it. */
  readonly isTarget: boolean;
}

/** Of a foreign restore only the first session has an id that is known. */
async function alreadyIn(
  { machine }: Context,
  { adapter, looks, out, restored }: Wanted,
): Promise<readonly Already[]> {
  const { logs, files, fidelity, resume } = restored;
  const ids = new Set<string>([
    resume.id,
    ...(fidelity === "native" ? logs.map(({ session }) => session) : []),
  ]);
  const targets = new Set(files.map(({ path }) => join(out, path)));
  const found: Already[] = [];
  for (const place of await placesThatExist(looks))
    for (const id of ids)
      for (const present of await adapter.restore.present(id, { place, machine })) {
        const isTarget = targets.has(present.path.replace(/\.zst$/, ""));
        found.push({ ...present, id, isTarget });
      }
  return found;
}

function refuse(wanted: Wanted, found: Already): Use {
  return { kind: "refuse", path: found.path, error: alreadyThere(wanted, found) };
}

function alreadyThere({ adapter, session }: Wanted, found: Already): PondError {
  const opened =
    found.getBack === undefined
      ? `open it with ${resumeLine(session.id, adapter)}`
      : `get it back with ${shellLine(found.getBack)}`;
  return new PondError(
    "validation_failed",
    `${adapter.title} has a session of the id ${found.id} already: ${found.path}`,
    {
      reason: "exists",
      hint: `nothing was written; ${opened}, or restore into another folder with --out; to replace it, ${removal(found)} and do this again`,
      data: { path: found.path, session: found.id },
    },
  );
}

function anotherState({ adapter, session }: Wanted, found: Already): PondError {
  return new PondError(
    "validation_failed",
    `${adapter.title} has session ${found.id} in another state than the one that is asked for: ${found.path}`,
    {
      reason: "exists",
      hint: `nothing was written or started; open what is there with ${resumeLine(session.id, adapter)}, or ${removal(found)} and do this again`,
      data: { path: found.path, session: found.id },
    },
  );
}

function otherContent({ path, id }: Already): PondError {
  return new PondError(
    "validation_failed",
    `${path} has session ${id} with other content than what is stored`,
    {
      reason: "exists",
      hint: "nothing was written or started; run pond sync, which takes in what changed there, and resume again, or move that file away",
      data: { path, session: id },
    },
  );
}

function putAway({ adapter }: Wanted, { path, id, getBack = [] }: Already): PondError {
  return new PondError("validation_failed", `${adapter.title} has put session ${id} away: ${path}`, {
    reason: "exists",
    hint: `nothing was written or started; get it back with ${shellLine(getBack)}, and resume again`,
    data: { path, session: id },
  });
}

const removal = ({ path, remove }: Already): string =>
  remove === undefined
    ? `run pond sync, move ${shellWord(path)} away`
    : `run pond sync, delete it there with ${shellLine(remove)}`;

const resumeLine = (session: string, { name }: Adapter): string =>
  pondCommand("resume", session, shellLine(optionWords("--in", name)));
