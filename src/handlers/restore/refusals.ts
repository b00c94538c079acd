/**
 * Why a session is not restored into a client that has it, or had it (spec.md#adapter-restore-once): what is there, by how
 * much it and the session went on, and the commands that lead on. None of them leads back here, and none loses a turn.
 */
import type { Adapter } from "../../adapters/index.ts";
import type { NextStep, Sentence } from "../../base/sentence.ts";
import { sentence } from "../../base/sentence.ts";
import { PondError } from "../../base/errors.ts";
import { shellLine, shellWord } from "../../base/shell.ts";
import type { Session } from "../../model/index.ts";
import type { Refused } from "../../wire/restore.ts";
import type { MissingFolder } from "./path-map.ts";
import type { Already, Wanted, WentOn } from "./copy.ts";

export function refusedBy({ code, reason, sentences, data }: PondError): Refused {
  const { message, hint = "" } = sentences;
  const path = data?.["path"] ?? data?.["link"];
  return {
    reason: reason ?? code,
    message,
    // It goes without saying.
    hint: withoutObvious(hint),
    ...(typeof path === "string" ? { path } : {}),
  };
}

function withoutObvious(hint: Sentence): Sentence {
  const [first = "", ...others] = typeof hint === "string" ? [hint] : hint;
  if (typeof first !== "string") return hint;
  return [first.replace(/^nothing was (?:written|restored)(?: or started)?; /, ""), ...others];
}

/** What keeps a restore from being done: the first ends it, but for a dry run, which answers with it. */
export class Refusals {
  readonly #isDryRun: boolean;
  first: PondError | undefined;

  constructor(isDryRun: boolean) {
    this.#isDryRun = isDryRun;
  }

  add(error: PondError | undefined): void {
    if (error === undefined) return;
    if (!this.#isDryRun) throw error;
    this.first ??= error;
  }
}

/** The session that its client opens instead of this one, which is a subagent of it; undefined where it opens this one. */
export function openedWith({ restored: { fidelity, logs, resume } }: Wanted): string | undefined {
  if (fidelity === "foreign" || logs.some(({ session }) => session === resume.id)) return undefined;
  return resume.id;
}

/** A subagent is opened with the session that it belongs to. */
export function belongsTo(
  { adapter, session }: Pick<Wanted, "adapter" | "session">,
  root: string,
): PondError {
  return new PondError(
    "validation_failed",
    `session ${session.id} is a subagent in ${adapter.title}, which opens it only with the session that it belongs to, ${root}`,
    {
      reason: "unsupported",
      hint: sentence`nothing was written or started; open that one with ${{ do: "resume", session_id: root }}`,
      data: { session: root },
    },
  );
}

export function alreadyThere(wanted: Wanted, found: Already): PondError {
  const { adapter, session } = wanted;
  const opened =
    found.getBack === undefined
      ? sentence`open it with ${resumed(openedWith(wanted) ?? session.id, adapter)}`
      : `get it back with ${shellLine(found.getBack)}`;
  return exists(
    `${adapter.title} already has a session with the id ${found.id}: ${found.path}`,
    sentence`nothing was written; ${opened}, or restore into another folder with ${{ field: "out" }}; to replace it, ${removal(found)} and run this again`,
    found,
  );
}

/** A copy that has all of the session. */
export function restoredThere({ adapter, session }: Wanted, found: Already, since: WentOn): PondError {
  const gained =
    since.copy === undefined || since.copy === 0 ? "" : `, and continued there (${turns(since.copy)})`;
  return exists(
    `session ${session.id} was restored into ${adapter.title} before, as ${found.id}${gained}: ${found.path}`,
    sentence`nothing was written; open it with ${resumed(session.id, adapter)}; ${ONE_MORE}`,
    found,
  );
}

/** A copy that lacks what the session has gained since, and may have gained something itself. */
export function parted(wanted: Wanted, found: Already, { origin, copy }: WentOn): PondError {
  const { adapter, session } = wanted;
  const asIs = sentence`open the copy as it is with ${{ do: "resume", session_id: found.id }}`;
  const before = `session ${session.id} was restored into ${adapter.title} before, as ${found.id} (${found.path})`;
  if (copy === 0)
    return exists(
      `${before}, and has ${turns(origin)} more since`,
      sentence`nothing was written; ${asIs}; to include newer messages, ${removal(found)}, which has not changed since, and run this again; ${ONE_MORE}`,
      found,
    );
  const gained =
    copy === undefined ? "the copy may have gained some too" : `the copy has gained ${turns(copy)}`;
  return exists(
    `${before}, and both have continued: the session has ${turns(origin)} more than what was restored, ${gained}`,
    sentence`nothing was written; ${asIs}; to get a second copy with the session as it is now, ${elsewhere(wanted)}; to continue the session itself, ${{ do: "resume", session_id: session.id }}`,
    found,
  );
}

/** It was carried on as another session, which this machine's client does not have. */
export function carriedOn(wanted: Wanted, went: Session, since: number | undefined): PondError {
  const { adapter, session } = wanted;
  const more =
    since === undefined || since === 0 ? "" : `, and has ${turns(since)} more since it was restored`;
  return new PondError(
    "validation_failed",
    `session ${session.id} was continued in ${adapter.title} as session ${went.id}${more}: a new copy would lack the messages added there`,
    {
      reason: "exists",
      hint: sentence`nothing was written; continue with ${{ do: "resume", session_id: went.id }}; for a copy of the session itself, ${elsewhere(wanted)}`,
      data: { session: went.id },
    },
  );
}

export function otherPaths(wanted: Wanted, found: Already, there: string): PondError {
  const { adapter, session, restored } = wanted;
  const { directory } = restored.resume;
  return exists(
    `${adapter.title} has the session as ${found.id} in ${there}, not in ${directory}: ${found.path}`,
    sentence`nothing was written or started; open it there with ${resumed(session.id, adapter)}; for one that works in ${directory}, ${{ ...elsewhere(wanted), map_paths: `${session.project}=${directory}` }}`,
    found,
  );
}

export function anotherState({ adapter, session }: Wanted, found: Already): PondError {
  return exists(
    `${adapter.title} has session ${found.id} in another state than the one that is asked for: ${found.path}`,
    sentence`nothing was written or started; open what is there with ${resumed(session.id, adapter)}, or ${removal(found)} and run this again`,
    found,
  );
}

export interface OtherContent {
  readonly since: WentOn | undefined;
  /** Pond restored it, with other paths. */
  readonly isOurs: boolean;
  /** A sync has read it. */
  readonly isSource: boolean;
}

/** A log of the session's own client that is not what is stored as its newest end. */
export function otherContent(
  { session }: Wanted,
  found: Already,
  { since, isOurs, isSource }: OtherContent,
): PondError {
  const { path, id } = found;
  const differs =
    since === undefined
      ? ""
      : `: ${turns(since.origin)} of it ${are(since.origin)} not there, ${turns(since.copy ?? 0)} there ${are(since.copy ?? 0)} not in it`;
  const isOnlyOlder = isOurs && since?.copy === 0;
  const asIs = sentence`${{ do: "resume", session_id: session.id, source: path }} opens it as it is`;
  const hint = isOnlyOlder
    ? `move ${shellWord(path)} away, which has not changed since, and run this again`
    : isSource
      ? sentence`run ${{ do: "sync" }}, then ${asIs}; for what is stored as the newest, move that file away after that and run this again`
      : TAKE_IN;
  return exists(
    `${path} already exists with other content than session ${id} has in the store${differs}`,
    sentence`nothing was written or started; ${hint}`,
    found,
  );
}

export function putAway({ adapter }: Wanted, found: Already): PondError {
  const { path, id, getBack = [] } = found;
  return exists(
    `${adapter.title} has archived session ${id}: ${path}`,
    `nothing was written or started; get it back with ${shellLine(getBack)}, and resume it`,
    found,
  );
}

/** Something else is where a session to be resumed belongs: mostly a state of it that was not synced yet. */
export function toResume({ code, sentences, data, reason }: PondError): PondError {
  const isOthers = reason === "exists" && data?.["session"] === undefined;
  const { message, hint = "" } = sentences;
  return new PondError(code, message, {
    hint: isOthers ? sentence`nothing was written or started; ${TAKE_IN}` : hint,
    ...(reason === undefined ? {} : { reason }),
    ...(data === undefined ? {} : { data }),
  });
}

/** Where paths are mapped to a folder that is not there, a session is not to be gone on with. */
export function nowhere({ rule, folder }: MissingFolder): PondError {
  return new PondError(
    "not_found",
    sentence`${folder}, of ${{ field: "map_paths" }} ${shellWord(rule)}, is not on this machine`,
    {
      hint: "nothing was written or started; create it, or name another folder",
      data: { field: "map_paths", value: rule, path: folder },
    },
  );
}

function exists(message: string, hint: Sentence, { path, id }: Already): PondError {
  return new PondError("validation_failed", message, { reason: "exists", hint, data: { path, session: id } });
}

const TAKE_IN = sentence`run ${{ do: "sync" }}, which imports what changed there, and resume again, or move that file away`;

const ONE_MORE = sentence`for one more copy, restore into another folder with ${{ field: "out" }}`;

/** What it has gained is in the store then, and a file that is moved is not lost. */
const removal = ({ path, remove }: Already): Sentence =>
  remove === undefined
    ? sentence`run ${{ do: "sync" }}, move ${shellWord(path)} away`
    : sentence`run ${{ do: "sync" }}, delete it there with ${shellLine(remove)}`;

const resumed = (session_id: string, { name }: Adapter): NextStep => ({ do: "resume", session_id, to: name });

const elsewhere = ({ session, adapter }: Wanted): NextStep & { readonly do: "restore" } => ({
  do: "restore",
  session_id: session.id,
  to: adapter.name,
  out: { choose: "another folder" },
});

const turns = (count: number): string => `${count} ${count === 1 ? "turn" : "turns"}`;
const are = (count: number): string => (count === 1 ? "is" : "are");
