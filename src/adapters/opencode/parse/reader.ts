/** Reads a unit: a session of a tree, an export, or a database (docs/adapters/opencode.md). */
import { join } from "node:path";
import { PondError } from "../../../base/errors.ts";
import type { SessionId } from "../../../model/index.ts";
import { sessionId } from "../../../model/index.ts";
import type {
  AdapterEnv,
  AdapterYield,
  PlacedRequest,
  ReadRequest,
  StoredHashes,
  Unit,
} from "../../kit/sources/index.ts";
import { field } from "../../kit/extract/index.ts";
import { isSettled, settledFrom } from "../../kit/files/index.ts";
import { groupDigests, groupOf, groupsJson, knownGroups, SqliteFile } from "../../kit/database/index.ts";
import { cursorOf, isFresh, issueOf } from "../../kit/sources/index.ts";
import type { Claims, InTree } from "./claims.ts";
import { differencesTo, hashesOf } from "./claims.ts";
import { emitSession } from "./emit.ts";
import { ADAPTER } from "../layout.ts";
import { DatabaseReader } from "./database.ts";
import { openExport } from "./exported.ts";
import { GoReader } from "./go-database.ts";
import { openTreeSession } from "./tree.ts";
import type { SourceRecord } from "../records/record.ts";
import type { Container, SessionSource } from "../records/source.ts";

/** Sessions of a database whose stored records are asked for at once. */
const ASKED_AT_ONCE = 64;

/** Batches, and at the end whether something was held back. */
type Reading = AsyncGenerator<readonly AdapterYield[], boolean>;

interface Reader {
  readonly unit: Unit;
  readonly request: OpencodeRequest;
  readonly claims: Claims;
}

/** With what the opened place knows. */
export interface OpencodeRequest extends PlacedRequest {
  readonly machine: AdapterEnv;
  /** Lists the place where that was not done yet. */
  readonly claims: () => Promise<Claims>;
}

export async function* read(unit: Unit, request: OpencodeRequest): AsyncGenerator<readonly AdapterYield[]> {
  if (isFresh(unit, request)) return;
  const reader: Reader = { unit, request, claims: await request.claims() };
  const inTree = reader.claims.treeSessions.get(unit.key);
  const { exports } = reader.claims.found;
  if (inTree !== undefined) yield* checkpointed(reader, readTree(reader, inTree));
  else if (exports.some(({ key }) => key === unit.key)) yield* checkpointed(reader, readExport(reader));
  else yield* readDatabase(reader);
}

async function* checkpointed(
  { unit, request }: Reader,
  reading: Reading,
): AsyncGenerator<readonly AdapterYield[]> {
  const held = yield* reading;
  yield [{ kind: "checkpoint", cursor: cursorOf(unit, request, { held }) }];
}

type RecordHashes = ReadonlyMap<string, string>;

/** `inDatabase`: the records of the session in the database beside the tree. */
async function* readTree(
  reader: Reader,
  { tree, session }: InTree,
  inDatabase = (): Promise<RecordHashes | undefined> => reader.claims.supersededBy(tree, session.id),
): Reading {
  const { claims, request } = reader;
  const source = openTreeSession(request.place.path, tree, session);
  if (source.isStray === true) return yield* readSession(reader, source);
  const newer = claims.newerTree(tree, session.id);
  const held = await inDatabase();
  if (held === undefined && newer === undefined) return yield* readSession(reader, source);
  const other = newer?.sessions.get(session.id);
  const records =
    held ?? (newer && other && (await hashesOf(openTreeSession(request.place.path, newer, other))));
  const differences = differencesTo(records, await allRecords(source));
  // What the newer form does not say is said nowhere else: the tree is one more source of the session.
  if (differences > 0 || source.faults().length > 0)
    return yield* readSession(reader, openTreeSession(request.place.path, tree, session));
  yield [{ kind: "superseded", session: sessionId(session.id), differences }];
  // Its own record and the files beside it are in no other container as they are.
  const beside = openTreeSession(request.place.path, tree, session);
  return yield* readSession(reader, { ...beside, isHeldElsewhere: true });
}

async function allRecords(source: SessionSource): Promise<readonly SourceRecord[]> {
  const records: SourceRecord[] = [];
  for (let index = 0; index < source.count; index += 1) {
    const message = await source.message(index);
    records.push(message, ...message.parts);
  }
  for await (const { isStray, source: said, at, bytes } of source.side())
    if (isStray === true) records.push({ value: { json: field(said, "record") ?? null }, at, bytes });
  return records;
}

async function* readExport(reader: Reader): Reading {
  const [stamp] = reader.unit.files;
  const found = stamp === undefined ? undefined : await openExport(reader.unit.key, stamp);
  const { now } = reader.request;
  if (found?.kind === "broken" && stamp !== undefined && !isSettled(stamp, now)) {
    yield [{ kind: "waiting", reason: "an export is incomplete", from: settledFrom([stamp]) }];
    return true;
  }
  if (found?.kind === "session" || found?.kind === "broken") return yield* readSession(reader, found.source);
  if (found?.kind === "fault") yield [issueOf(found.fault, ADAPTER)];
  return false;
}

async function* readSession(reader: Reader, source: SessionSource): Reading {
  const identity = reader.claims.identify(source);
  const stored = await storedOf(reader.request, [sessionId(identity.id)]);
  return yield* emitSession(source, {
    identity,
    stored: stored.get(sessionId(identity.id)),
    now: reader.request.now,
    path: join(reader.request.place.path, source.container),
  });
}

async function storedOf(
  request: ReadRequest,
  sessions: readonly SessionId[],
): Promise<ReadonlyMap<SessionId, StoredHashes>> {
  return (await request.stored?.(sessions)) ?? new Map();
}

async function* readDatabase(reader: Reader): AsyncGenerator<readonly AdapterYield[]> {
  const { unit, request } = reader;
  const path = unit.files[0]?.path ?? unit.key;
  await using file = await SqliteFile.open(path, request.machine.scratch);
  const besides = reader.claims.besides(unit.key);
  const isElsewhere = await reader.claims.elsewhere(unit.key);
  const container = [new DatabaseReader(file, unit.key, isElsewhere), new GoReader(file, unit.key)].find(
    ({ isReadable }) => isReadable,
  );
  if (container === undefined)
    throw new PondError("validation_failed", `${path} has none of the tables that opencode writes`, {
      reason: "unsupported",
    });
  const digests = await container.digests();
  reader.claims.learn(
    unit.key,
    digests.keys().filter((id) => !container.isStray(id)),
  );
  const groups = groupDigests(digests);
  const known = knownGroups(request.cursor);
  const changed = [...digests.keys()].filter((id) => known.get(groupOf(id)) !== groups.get(groupOf(id)));
  let held = false;
  for (let start = 0; start < changed.length; start += ASKED_AT_ONCE) {
    const ids = changed.slice(start, start + ASKED_AT_ONCE);
    for await (const part of readSessions(reader, { container, file, ids })) {
      // Whoever writes to a database that was opened as immutable may have torn what was just read.
      if (!file.isUntouched()) {
        yield [{ kind: "waiting", reason: "the database changed while it was read" }];
        return;
      }
      yield part.batch;
      if (!part.held) continue;
      // A session that is at work is read again, and with it those that share its group.
      held = true;
      groups.delete(groupOf(part.session));
    }
  }
  // A session that the database has left, or a record of it, may still be in a tree beside it.
  for (const inTree of known.size === 0 ? [] : besides) {
    const { id } = inTree.session;
    if (known.get(groupOf(id)) === groups.get(groupOf(id))) continue;
    const inDatabase = async (): Promise<RecordHashes | undefined> =>
      digests.has(id) ? hashesOf(container.open(id)) : undefined;
    held = (yield* readTree(reader, inTree, inDatabase)) || held;
  }
  yield [{ kind: "checkpoint", cursor: cursorOf(unit, request, { held, state: groupsJson(groups) }) }];
}

interface SomeSessions {
  readonly container: Container;
  readonly file: SqliteFile;
  readonly ids: readonly string[];
}

interface SessionBatch {
  readonly session: string;
  readonly batch: readonly AdapterYield[];
  readonly held: boolean;
}

async function* readSessions(
  { claims, request, unit }: Reader,
  { container, file, ids }: SomeSessions,
): AsyncGenerator<SessionBatch> {
  const names = ids.map((id) =>
    sessionId(claims.idOf({ container: unit.key, isStray: container.isStray(id) }, id)),
  );
  const stored = await storedOf(request, names);
  for (const [index, session] of ids.entries()) {
    request.signal?.throwIfAborted();
    using snapshot = file.transaction();
    void snapshot;
    const source = container.open(session);
    const known = stored.get(names[index] ?? sessionId(session));
    const identity = claims.identify(source);
    const { path } = file;
    const reading = emitSession(source, { identity, stored: known, now: request.now, path });
    let next = await reading.next();
    for (; next.done !== true; next = await reading.next()) yield { session, batch: next.value, held: false };
    if (next.value) yield { session, batch: [], held: true };
  }
}
