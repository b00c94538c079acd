/**
 * Copies among the hits of a stretch whose originals are hits of another one (spec.md#search-shown-once). A search for exact
 * text goes through sessions by age, a stretch and a page at a time: without a look at the originals a message would be a hit
 * on the page of each of its copies.
 */
import type { MessageId, MessageKey } from "../../model/index.ts";
import { messageId, sessionId } from "../../model/index.ts";
import { originalsOf } from "../../model/derived/index.ts";
import type { SessionStore, SessionSummary } from "../../sessions/index.ts";
import { compareByAge, isDerivedName } from "../../sessions/index.ts";
import { and, isIn, or } from "../../substrate/engine/predicate.ts";
import type { Found } from "../hits/collapse.ts";
import { isShownFor } from "../hits/collapse.ts";
import type { ScanRequest } from "./literal-scan.ts";
import { placed, scanMessages, scanParts } from "./literal-scan.ts";
import { isReplaced } from "../hits/hit-states.ts";

interface CopyRequest extends ScanRequest {
  /** Of the stretch: what is in them needs no look. */
  readonly sessions: readonly SessionSummary[];
}

const KEYS_PER_SCAN = 500;

/** The hits that are copies of a message that matches, too, and is in scope outside of the stretch. */
export async function copiesFoundElsewhere(
  store: SessionStore,
  hits: readonly Found[],
  request: CopyRequest,
): Promise<ReadonlySet<Found>> {
  const copies = hits.filter((hit) => hit.replays !== undefined && !isReplaced(hit));
  const { sessions, scope } = request;
  if (copies.length === 0 || sessions.length === scope.sessions.length) return new Set();
  const inside = new Set<string>(sessions.map(({ id }) => id));
  const outside = new Map<string, SessionSummary>(
    scope.sessions.flatMap((session) => (inside.has(session.id) ? [] : [[session.id, session]])),
  );
  const keys = [...namedOrigins(copies), ...(await sameIds(store, copies, request))];
  const found = await matching(
    store,
    keys.filter(({ session_id }) => outside.has(session_id)),
    request,
  );
  const byId = Map.groupBy(found, ({ id }) => id);
  const byRecord = Map.groupBy(found, ({ record }) => record);
  const ageOf = new Map<string, SessionSummary>(scope.sessions.map((session) => [session.id, session]));
  const isNewer = (other: Found, copy: Found): boolean => {
    const [one, two] = [ageOf.get(other.session_id), ageOf.get(copy.session_id)];
    return one !== undefined && two !== undefined && compareByAge(one, two) < 0;
  };
  // Each of them is tried: one that is no original says nothing of the others.
  const candidatesFor = ({ id, replays }: Found): readonly Found[] => {
    if (typeof replays !== "object") return byId.get(id) ?? [];
    return originalsOf(replays).flatMap(({ message_id }) => byRecord.get(message_id) ?? []);
  };
  return new Set(
    copies.filter((copy) =>
      candidatesFor(copy).some((other) => isShownFor(copy, other, isNewer(other, copy))),
    ),
  );
}

function namedOrigins(copies: readonly Found[]): readonly MessageKey[] {
  return copies.flatMap(({ replays }) =>
    replays === undefined || replays === true
      ? []
      : originalsOf(replays).map(({ session_id, message_id }) => ({
          session_id: sessionId(session_id),
          id: messageId(message_id),
        })),
  );
}

/** Where a copy does not say of which session it is: the messages of its id, in whichever. */
async function sameIds(
  store: SessionStore,
  copies: readonly Found[],
  { scope }: CopyRequest,
): Promise<readonly MessageKey[]> {
  const ids = new Set(copies.flatMap(({ id, replays }) => (replays === true ? [id] : [])));
  const keys: MessageKey[] = [];
  for (const some of chunksOf([...ids]))
    keys.push(...(await store.findHeads({ where: and(isIn("id", some), ...scope.perMessage) })));
  return keys;
}

/** Which of some messages hold what is looked for, in whichever piece or version of their records. */
async function matching(
  store: SessionStore,
  keys: readonly MessageKey[],
  request: CopyRequest,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const some of chunksOf(keys)) {
    const ofSessions = isIn("session_id", [...new Set(some.map(({ session_id }) => session_id))]);
    const ids: readonly MessageId[] = [...new Set(some.map(({ id }) => id))];
    const scans = await Promise.all([
      scanMessages(store, and(ofSessions, or(isIn("id", ids), isDerivedName("id"))), request),
      scanParts(store, and(ofSessions, or(isIn("message_id", ids), isDerivedName("message_id"))), request),
    ]);
    const wanted = new Set<string>(ids);
    const hits = await placed(
      scans.flatMap((scan) => scan.found.filter(({ id, record }) => wanted.has(id) || wanted.has(record))),
      request,
    );
    found.push(...hits.filter((hit) => !isReplaced(hit)));
  }
  return found;
}

function* chunksOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < all.length; start += KEYS_PER_SCAN)
    yield all.slice(start, start + KEYS_PER_SCAN);
}
