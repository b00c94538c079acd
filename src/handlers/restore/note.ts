/**
 * What is noted of a restore (spec.md#sources-restored): in the store, which session it became in which client, so that
 * it is no new session when it is read; beside the store, the files as they were then, for `verify`.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Adapter } from "../../adapters/index.ts";
import { stampNow } from "../../adapters/index.ts";
import { stampTextOf } from "../../adapters/registry.ts";
import { errnoOf, PondError, toPondError } from "../../base/errors.ts";
import type { NextStep } from "../../base/sentence.ts";
import { sentence } from "../../base/sentence.ts";
import type { SessionId } from "../../model/index.ts";
import type { RestoreHead, SessionStore } from "../../sessions/index.ts";
import { rememberRestored } from "../../state/besides.ts";
import { knownReaderId, readerId } from "../../state/index.ts";
import type { WrittenFile } from "../../wire/restore.ts";
import type { Context } from "../context/context.ts";
import { realPathOf } from "../import/importer.ts";
import type { RestoredSession } from "./check.ts";

interface Wrote {
  readonly adapter: Adapter;
  readonly out: string;
  readonly sessions: readonly RestoredSession[];
}

/** Notes files as they are now. Without that verify has to read them, nothing else. */
export function rememberFiles({ config }: Context, files: readonly WrittenFile[]): void {
  unlessUnusable(() => rememberRestored(config.paths.state, files.flatMap(stampOfWritten)));
}

/**
 * Notes in the store what a restore is about to put in its place: before it is there, since a restore that is killed behind
 * that would be another session. False where the store cannot: the session is restored all the same.
 */
export async function remember(context: Context, store: SessionStore, wrote: Wrote): Promise<boolean> {
  const { state } = context.config.paths;
  const { adapter, out, sessions } = wrote;
  const folder = realPathOf(out);
  const reader = unlessUnusable(() => readerId(state)) ?? "";
  const restored_at = context.clock.now() * 1000;
  const records = sessions.map(({ path, ...session }) => ({
    ...session,
    adapter: adapter.name,
    reader,
    path: join(folder, path),
    restored_at,
  }));
  try {
    await store.recordRestores(records);
    return true;
  } catch (error) {
    if (toPondError(error).code !== "storage_unavailable") throw error;
    return false;
  }
}

/** Undefined where the state folder cannot be used, which is no fault of a restore. */
function unlessUnusable<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (errnoOf(error) === undefined && toPondError(error).code !== "storage_unavailable") throw error;
    return undefined;
  }
}

/** A file as it is now that it has its place: whoever touches it changes that. */
function stampOfWritten({ path }: WrittenFile): readonly { readonly path: string; readonly stamp: string }[] {
  const stamp = stampNow(path);
  return stamp === undefined ? [] : [{ path: realPathOf(path), stamp: stampTextOf(stamp) }];
}

interface Again {
  readonly session: SessionId;
  readonly adapter: Adapter;
  readonly out: string;
}

/**
 * A session is in that folder already, however the client names its files: a second one would be its double. A subagent that
 * was restored with the session that it belongs to (`root`) is opened with that.
 */
export function restoredAlready(
  { adapter, session }: Again,
  { head, isSeen, root }: { readonly head: RestoreHead; readonly isSeen: boolean; readonly root: string },
): PondError {
  const isPart = root !== head.session;
  const opened: NextStep = isPart
    ? { do: "resume", session_id: root }
    : { do: "resume", session_id: session, to: adapter.name };
  const open = sentence`open ${isPart ? "the session that it belongs to" : "it"} with ${opened}; `;
  return new PondError(
    "validation_failed",
    `session ${session} was restored into ${adapter.title} before, as ${head.session}: ${head.path} already exists, and pond never overwrites a file`,
    {
      reason: "exists",
      hint: sentence`nothing was written; ${isSeen ? open : ""}${isPart ? "" : "to include newer messages, move that file away and run this again; "}for one more copy, restore into another folder with ${{ field: "out" }}`,
      data: { path: head.path, session: head.session, was_restored: true },
    },
  );
}

/** The files of native restores with mapped paths: what their client carries on there is another end of the session. */
export async function mappedFiles(store: SessionStore, session: string): Promise<ReadonlySet<string>> {
  const heads = await store.restoresOf([session]);
  return new Set(heads.flatMap(({ path, digest }) => (digest === undefined ? [] : [path])));
}

/** What this machine restored of a session into a folder and is still there, of a client that is not its own. */
export async function restoredBefore(
  { config }: Context,
  store: SessionStore,
  { session, adapter, out }: Again,
): Promise<RestoreHead | undefined> {
  const reader = knownReaderId(config.paths.state);
  const heads = await store.restoresOf([session]);
  const folder = join(realPathOf(out), "/");
  return heads.find(
    (head) =>
      head.session !== head.from &&
      head.adapter === adapter.name &&
      head.reader === reader &&
      head.path.startsWith(folder) &&
      existsSync(head.path),
  );
}
