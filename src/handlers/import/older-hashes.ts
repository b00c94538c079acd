/**
 * The hashes of rows that an older pond stored without one: what native restore gives back of them, hashed as a reader
 * hashes its source. Asked for once, when their sources are read again (spec.md#storage-versions).
 */
import type { Adapter } from "../../adapters/index.ts";
import { isJsonObject } from "../../base/json/json.ts";
import type { SessionState } from "../../model/events/index.ts";
import { sessionId } from "../../model/index.ts";
import type { IngestTables } from "../../sessions/ingest/index.ts";
import type { SessionStore } from "../../sessions/index.ts";
import { hashNumber } from "../../sessions/index.ts";

export function olderHashes(store: SessionStore, adapter: Adapter): IngestTables["hashesOf"] {
  let last: { readonly session: string; readonly hashes: Promise<ReadonlyMap<string, string>> } | undefined;
  const hashesOf = (session: string): Promise<ReadonlyMap<string, string>> => {
    if (last?.session !== session) last = { session, hashes: hashesIn(store, adapter, session) };
    return last.hashes;
  };
  return async (versions) => {
    const found: (number | undefined)[] = [];
    for (const { session_id, record } of versions) {
      const hash = (await hashesOf(session_id)).get(record);
      found.push(hash === undefined ? undefined : hashNumber(hash));
    }
    return found;
  };
}

/** By record. Of what cannot be read nothing is known: then what its source says is stored beside it. */
async function hashesIn(
  store: SessionStore,
  { restore }: Adapter,
  session: string,
): Promise<ReadonlyMap<string, string>> {
  if (restore.kind === "unsupported") return new Map();
  const state = await store.everything(sessionId(session));
  const hashes = new Map<string, string>();
  if (state === undefined) return hashes;
  // Each record by itself: one that cannot be restored says nothing about the others.
  for (const messages of recordsIn(state))
    try {
      const { log, side } = await restore.hashes({ ...state, messages }, formOf(state));
      for (const { record, hash, version } of log) hashes.set(record, version ?? hash);
      for (const [record, hash] of side) hashes.set(record, hash);
    } catch {
      // As said above.
    }
  return hashes;
}

/** The messages of a session cut into records, roughly: pieces of a record share its position. */
function recordsIn({ messages }: SessionState): readonly SessionState["messages"][] {
  return [...Map.groupBy(messages, ({ message }) => message.seq ?? message.id).values()];
}

function formOf({ session: { options } }: SessionState): string {
  const { source } = options;
  const kind = isJsonObject(source) ? source["kind"] : undefined;
  return typeof kind === "string" ? kind : "log";
}
