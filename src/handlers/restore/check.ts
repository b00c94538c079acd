/**
 * Is a restore what it was meant to be (spec.md#adapter-restore-read-back)? The staged files are read as a source by the adapter
 * of the client that they are for, and what comes out is compared with what was stored: a native restore tells the same
 * session, a foreign one says what was handed over and gives its reader nothing to complain of.
 */
import { join } from "node:path";
import type { Adapter, AdapterEnv, Issue, Lineage, OpenedPlace, Place, Unit } from "../../adapters/index.ts";
import type { Restored, RestoredLog } from "../../adapters/restore.ts";
import { differenceToHandedOver, handedOver, messagesBehind, contentOf } from "../../adapters/restore.ts";
import { digestOf, locate } from "../../adapters/index.ts";
import { PondError } from "../../base/errors.ts";
import { firstDifference, stringifyJson } from "../../base/json/json.ts";
import type { Event, SessionId } from "../../model/index.ts";
import type { SessionState } from "../../model/events/index.ts";
import { replay } from "../../model/events/index.ts";
import { sessionsIn } from "../../model/tree/index.ts";
import type { RestoredMessage } from "../../sessions/index.ts";
import { SETTLED_MS } from "../import/dry-read.ts";

export interface Checking {
  readonly adapter: Adapter;
  readonly machine: AdapterEnv;
  readonly lineage: Lineage;
  readonly restored: Restored;
  /** Recorded paths were mapped to others. */
  readonly isMapped?: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A session as its target has it now. */
export interface RestoredSession {
  readonly from: SessionId;
  readonly session: SessionId;
  /** Its log, below the folder. */
  readonly path: string;
  /** Each message of it with the stored one that it says; null where it says none. None for a native restore. */
  readonly messages: ReadonlyMap<string, RestoredMessage | null>;
  /** How the file holds it. */
  readonly form?: string;
  /** Of a native restore with mapped paths, whose records are not those that are stored. */
  readonly digest?: string;
}

/** The sessions that were read back. Throws where the files below `folder` are not the restore of the lineage. */
export async function checkRestored(folder: string, checking: Checking): Promise<readonly RestoredSession[]> {
  const { restored, lineage } = checking;
  const states = new Map<SessionId, SessionState>();
  for (const { state } of sessionsIn(lineage)) states.set(state.session.id, state);
  const { adapter, machine, now } = checking;
  await using opened = await adapter.open({ path: folder, origin: "default" }, machine);
  const isImported = restored.resume.imports !== undefined;
  const units = isImported ? new Map<string, Unit>() : await unitsOf(opened);
  const sessions: RestoredSession[] = [];
  for (const log of restored.logs) {
    const back = isImported
      ? await readNamed(folder, log, checking)
      : await readBack(opened, units.get(log.path), now);
    const state = states.get(log.session);
    const difference =
      log.handedOver === undefined
        ? state && (await differenceToStored(adapter, state, back))
        : differenceToHanded(log.handedOver, back);
    if (difference !== undefined) throw unlike(log, difference);
    if (back.state === undefined) continue;
    const isMapped = log.handedOver === undefined && checking.isMapped === true;
    const digest = isMapped && back.digest !== undefined ? { digest: back.digest } : {};
    const form = back.form === undefined ? {} : { form: back.form };
    sessions.push({ ...sessionIn(log, back.state, back.hashes), ...form, ...digest });
  }
  return sessions;
}

function sessionIn(
  { session: from, path, handedOver: handed }: RestoredLog,
  back: SessionState,
  hashes: ReadonlyMap<string, string>,
): RestoredSession {
  const { id: session } = back.session;
  if (handed === undefined) return { from, session, path, messages: new Map() };
  const behind = messagesBehind(handed, handedOver(back.messages, { isReadBack: true }));
  const messages = new Map(
    back.messages.map(({ message: { id } }) => {
      const [said, hash] = [behind.get(id), hashes.get(id)];
      if (said === undefined) return [id, null] as const;
      const { isInjected, kinds } = said;
      const [origin, ...others] = said.origins;
      const message: RestoredMessage = {
        ...origin,
        ...(isInjected ? { isInjected } : {}),
        ...(isInjected || kinds.size > 0 ? { kinds: [...kinds] } : {}),
        ...(hash === undefined ? {} : { hash: hash.slice(0, HASH_LENGTH) }),
        ...(others.length === 0 ? {} : { others }),
      };
      return [id, message] as const;
    }),
  );
  return { from, session, path, messages };
}

/** Enough to tell a message that was changed. */
const HASH_LENGTH = 12;

/** What a file gives when it is read. */
interface ReadBack {
  readonly state: SessionState | undefined;
  readonly issues: readonly Issue[];
  /** The chain of its records, where it was read to its end. */
  readonly digest?: string | undefined;
  readonly form?: string | undefined;
  /** Of the record of each message. */
  readonly hashes: ReadonlyMap<string, string>;
  readonly waiting: readonly string[];
}

/**
 * What was written of a native restore says what is stored; that this is what was read, `proveLineage` has proven. Issues
 * are none of a native restore's: a line that could not be read when it was stored cannot be read now.
 */
async function differenceToStored(
  { restore }: Adapter,
  stored: SessionState,
  { state, waiting, digest }: ReadBack,
): Promise<string | undefined> {
  const records = restore.kind === "supported" ? await restore.hashes(stored, formOf(stored)) : undefined;
  // The very records: how they are told may depend on those that once stood beside them.
  if (records !== undefined && digest !== undefined && digestOf(records).digest === digest) return undefined;
  if (state === undefined) return `it contains no session${waiting.map((reason) => ` (${reason})`).join("")}`;
  const found = firstDifference(contentOf(stored.messages), contentOf(state.messages));
  if (found === undefined) return undefined;
  return `${found.path}: ${shortened(found.left)} became ${shortened(found.right)}`;
}

const formOf = ({ source }: SessionState): string => source?.form ?? "log";

function differenceToHanded(
  handed: NonNullable<RestoredLog["handedOver"]>,
  { state, issues, waiting }: ReadBack,
): string | undefined {
  const [issue] = issues;
  if (issue !== undefined) return `${locate(issue)}: ${issue.message}`;
  const [reason] = waiting;
  if (reason !== undefined) return `it is not read to its end: ${reason}`;
  if (state === undefined) return "it contains no session";
  return differenceToHandedOver(handed, handedOver(state.messages));
}

/** What a client imports by a command is found by its name. */
async function readNamed(
  folder: string,
  { path }: RestoredLog,
  { adapter, machine, now }: Checking,
): Promise<ReadBack> {
  const place: Place = { path: folder, origin: "default", files: [join(folder, path)] };
  await using opened = await adapter.open(place, machine);
  const [unit] = (await unitsOf(opened)).values();
  return readBack(opened, unit, now);
}

async function readBack(opened: OpenedPlace, unit: Unit | undefined, now: number): Promise<ReadBack> {
  if (unit === undefined)
    return { state: undefined, issues: [], waiting: ["its client does not find it"], hashes: new Map() };
  // Each file for itself: whether it is a copy of another one is not the question here.
  const { found: _, ...alone } = unit;
  const events: Event[] = [];
  const issues: Issue[] = [];
  const waiting: string[] = [];
  let digest: string | undefined;
  let form: string | undefined;
  const hashes = new Map<string, string>();
  for await (const batch of opened.read(alone, { now: now + SETTLED_MS }))
    for (const item of batch)
      if (item.kind === "issue") issues.push(item.issue);
      else if (item.kind === "waiting") waiting.push(item.reason);
      else if (item.kind === "state") ({ digest, form } = item.state);
      else if (item.kind === "session" || item.kind === "message" || item.kind === "part") {
        events.push(item);
        if (item.kind === "message" && item.record !== undefined)
          hashes.set(item.message.id, item.record.hash);
      }
  return { state: replay(events)[0], issues, waiting, digest, form, hashes };
}

async function unitsOf(opened: OpenedPlace): Promise<Map<string, Unit>> {
  const units = new Map<string, Unit>();
  for await (const batch of opened.units())
    for (const item of batch) if ("key" in item) units.set(item.key, item);
  return units;
}

function unlike({ path, session }: RestoredLog, difference: string): PondError {
  return new PondError("internal", `a restored file does not read back equal: ${path}: ${difference}`, {
    reason: "corrupt",
    hint: "nothing was written; please report this with the session's client and version",
    data: { session, path },
  });
}

function shortened(value: Parameters<typeof stringifyJson>[0] | undefined): string {
  const text = value === undefined ? "nothing" : stringifyJson(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
