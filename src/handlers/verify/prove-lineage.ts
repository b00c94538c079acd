/**
 * Before a restore, native or foreign, what is stored of each of its sessions is proven by the digests of the recorded
 * state (spec.md#adapter-restore-proven): a row that changed in the store is not handed out. Of what was stored without a
 * digest nothing can be proven, and that is told.
 */
import type { RecordHashes } from "../../adapters/index.ts";
import { clientNamed } from "../../adapters/registry.ts";
import { PondError } from "../../base/errors.ts";
import { sentence } from "../../base/sentence.ts";
import type { SessionId } from "../../model/index.ts";
import type { SessionState } from "../../model/events/index.ts";
import { sessionsIn } from "../../model/tree/index.ts";
import type { ReadLineage, SessionStore, Shown, StateAsRead } from "../../sessions/index.ts";
import type { StateHead } from "../../sessions/states/index.ts";
import { ADOPTED } from "../../sessions/states/index.ts";
import { hashNumber } from "../../sessions/index.ts";
import type { LineageProof, UnprovenSession } from "../../wire/restore.ts";
import type { Context } from "../context/context.ts";
import { proveState } from "./prove-state.ts";

/** Throws for the first session that is not as it was read. */
export async function proveLineage(
  context: Context,
  store: SessionStore,
  { lineage, shown }: ReadLineage,
): Promise<LineageProof> {
  const unproven: UnprovenSession[] = [];
  let proven = 0;
  for (const { state } of sessionsIn(lineage)) {
    const session_id = state.session.id;
    const own = shown.get(session_id);
    const why = own === undefined ? UNRECORDED : await proveSession({ context, store }, state, own);
    if (why === undefined) proven += 1;
    else unproven.push({ session_id, why });
  }
  return { proven, unproven };
}

const UNRECORDED = "no digest was recorded";

interface Proving {
  readonly context: Context;
  readonly store: SessionStore;
}

/** Why nothing is proven of a session; undefined where all that is shown of it is. */
async function proveSession(
  proving: Proving,
  state: SessionState,
  { end, others }: Shown,
): Promise<string | undefined> {
  const messages = state.messages.filter(({ message }) => !others.has(message.id));
  const whys = [await proveOne(proving, end.state, { state: { ...state, messages }, damage: [] })];
  // Names that other sources have of it are handed out as well.
  const views = others.size === 0 ? undefined : await proving.store.views(state.session.id);
  for (const { latest } of views?.history.sources ?? [])
    if (
      views !== undefined &&
      latest !== undefined &&
      latest.records === 0 &&
      latest.source !== end.state.source
    )
      whys.push(await proveOne(proving, latest, views.view(latest)));
  return whys.find((why) => why !== undefined);
}

async function proveOne(
  { context, store }: Proving,
  head: StateHead,
  view: StateAsRead,
): Promise<string | undefined> {
  if (head.source === ADOPTED) return UNRECORDED;
  const adapter = clientNamed(context, head.adapter);
  if (adapter === undefined) return `this pond does not know its client, ${head.adapter}`;
  const { faults, hashes } = await proveState(adapter, head, view);
  if (faults.length > 0) throw await notAsRead(store, view.state.session.id, { faults, hashes });
  if (!head.whole) return `when ${head.path} was read, something in it was incomplete or could not be read`;
  return hashes === undefined ? `${adapter.title} has no native restore` : undefined;
}

async function notAsRead(
  store: SessionStore,
  session: SessionId,
  {
    faults: [fault = ""],
    hashes,
  }: { readonly faults: readonly string[]; readonly hashes: RecordHashes | undefined },
): Promise<PondError> {
  const records = hashes === undefined ? [] : await changedRecords(store, session, hashes);
  const named = records.length === 0 ? "" : ` (record ${records.slice(0, MOST_NAMED).join(", ")})`;
  return new PondError("storage_unavailable", `what is stored is not what was read: ${fault}${named}`, {
    reason: "corrupt",
    hint: sentence`nothing was written; run ${{ do: "repair" }}, which reads it again from its source where that is still there; ${{ do: "verify", stored: true }} names everything of that kind`,
    data: { session, ...(records.length === 0 ? {} : { records }) },
  });
}

const MOST_NAMED = 3;

/** Records that do not restore with the hash that their row was stored with. */
export async function changedRecords(
  store: SessionStore,
  session: SessionId,
  { log }: RecordHashes,
): Promise<readonly string[]> {
  const stored = (await store.storedHashes([session])).get(session);
  return log.flatMap(({ record, hash, version = hash }) => {
    const known = stored?.get(record);
    return known === undefined || known.includes(hashNumber(version)) ? [] : [record];
  });
}
