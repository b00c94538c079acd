/**
 * `verify --stored`: proof that every recorded state restores as it was read, by its digests alone (spec.md#keep-verify).
 * No source is opened: it holds for sources that are gone, and on any machine.
 */
import { existsSync } from "node:fs";
import type { Adapter, RecordHashes } from "../../adapters/index.ts";
import { clientNamed, clientsOf } from "../../adapters/registry.ts";
import { linkTo, NO_RECORDS } from "../../adapters/index.ts";
import { PondError } from "../../base/errors.ts";
import { brandOf } from "../../model/derived/index.ts";
import { describeKey } from "../../model/index.ts";
import { sentence } from "../../base/sentence.ts";
import type { Session } from "../../model/index.ts";
import type { SessionStore, StateViews } from "../../sessions/index.ts";
import type { StateHead } from "../../sessions/states/index.ts";
import type { TableCheck } from "../../sessions/repair/index.ts";
import { ADOPTED } from "../../sessions/states/index.ts";
import { checkFiles } from "../../sessions/repair/index.ts";
import type { SourceFilter } from "../../wire/sources.ts";
import type {
  FilesReport,
  StoredReport,
  StoredVerification,
  UnequalSession,
  VerifyProgress,
} from "../../wire/verify.ts";
import type { Context } from "../context/context.ts";
import { requireStore } from "../context/existing.ts";
import { damageIn } from "./file-damage.ts";
import { rememberFaults } from "../../state/besides.ts";
import { knownReaderId } from "../../state/index.ts";
import { lostReport } from "./lost-sources.ts";
import { nameOf, proveState } from "./prove-state.ts";
import { rememberedSync } from "../context/remembered.ts";

/** Undefined for a store elsewhere: there the provider keeps checksums. */
export async function verifyFiles(
  { address, signal }: Context,
  onRead: (bytes: number) => void = () => undefined,
): Promise<FilesReport | undefined> {
  if (address.folder === undefined) return undefined;
  let bytes = 0;
  const checks = await checkFiles(address, {
    deep: true,
    signal,
    onRead: (more) => onRead((bytes += more)),
  });
  const sum = (of: (check: TableCheck) => number): number => checks.reduce((all, each) => all + of(each), 0);
  return {
    files: sum(({ files }) => files),
    bytes: sum((each) => each.bytes),
    unsummed: sum(({ unsummed }) => unsummed),
    late: sum(({ late }) => late),
    damage: damageIn(checks),
  };
}

const MAX_DIFFERENCES = 20;

export async function verifyStored(
  context: Context,
  filter: SourceFilter,
  onProgress: (progress: VerifyProgress) => void = () => undefined,
): Promise<StoredReport> {
  if (filter.paths !== undefined)
    throw new PondError(
      "validation_failed",
      sentence`${{ field: "stored" }} reads no source, so ${{ field: "paths" }} has no effect`,
      {
        hint: "leave one of the two out",
        data: { field: "paths", value: filter.paths },
      },
    );
  const chosen = filter.adapters?.map((name) => requireAdapter(context, name)) ?? clientsOf(context);
  const store = await requireStore(context);
  const tallies = new Map(chosen.map((adapter) => [adapter.name, new StoredTally(adapter)]));
  // Sessions that a program stored have no source to prove them by: that they can be read whole is all there is to ask.
  const tallyOf = (source_agent: string): StoredTally | undefined => {
    const brand = brandOf(source_agent);
    if (filter.adapters === undefined && !tallies.has(brand))
      tallies.set(brand, new StoredTally({ name: brand, title: brand }));
    return tallies.get(brand);
  };
  // Two clients may have sessions of one id: a source is proven by the client that it is of.
  const read = new Map<string, StateHead[]>();
  for (const { name } of chosen)
    for (const head of await store.stateHeads(name)) {
      const heads = read.get(head.session_id);
      if (heads === undefined) read.set(head.session_id, [head]);
      else heads.push(head);
    }
  const sessions: Session[] = [];
  const lost = new Set(read.keys());
  const all = store.allSessions(({ id, source_agent, message }) => {
    lost.delete(id);
    tallyOf(source_agent)?.fault(id, [`${describeKey({ id })} cannot be read: ${message}`]);
  });
  for await (const session of all) {
    lost.delete(session.id);
    if (tallyOf(session.source_agent) !== undefined || read.has(session.id)) sessions.push(session);
  }
  for (const id of lost)
    tallies
      .get(read.get(id)?.[0]?.adapter ?? "")
      ?.fault(id, [`session ${id} has lost its row: its messages are stored, but not shown`]);
  for (const [done, session] of sessions.entries()) {
    context.signal.throwIfAborted();
    const client = await proveSession(store, session, tallies);
    onProgress({ client, done: done + 1, total: sessions.length });
  }
  const here = knownReaderId(context.config.paths.state);
  const sourcesOf = (id: string): UnequalSession["sources"] =>
    [...new Map((read.get(id) ?? []).map((head) => [head.source, head])).values()].map(
      ({ path, reader, adapter }) => ({
        adapter,
        path,
        machine: reader === here ? "this" : "another",
        is_there: existsSync(path),
      }),
    );
  const clients = [...tallies.values()].map((tally) => tally.finish(sourcesOf));
  if (filter.adapters === undefined) {
    const faulty = new Set(clients.flatMap((each) => each.unequal_sessions.map((one) => one.session_id)));
    const faults = { at: context.clock.now(), sessions: faulty.size };
    rememberFaults(context.config.paths.state, context.address, faults);
  }
  const missed = await lostReport(context, store, await rememberedSync(context));
  return {
    clients: clients.filter((each) => each.sessions + each.sources + each.unequal > 0),
    ...(missed === undefined ? {} : { lost: missed }),
  };
}

function requireAdapter(context: Context, name: string): Adapter {
  const adapter = clientNamed(context, name);
  if (adapter !== undefined) return adapter;
  throw new PondError("validation_failed", `there is no client named ${name}`, {
    hint: `one of: ${clientsOf(context)
      .map((each) => each.name)
      .join(", ")}`,
  });
}

/** Gives the title of its client. */
async function proveSession(
  store: SessionStore,
  { id, source_agent }: Session,
  tallies: ReadonlyMap<string, StoredTally>,
): Promise<string> {
  const own = tallies.get(brandOf(source_agent));
  own?.countSession();
  const views = await store.views(id);
  const title = own?.adapter.title ?? "";
  if (views === undefined) own?.fault(id, [`${describeKey({ id })} cannot be read`]);
  if (views === undefined) return title;
  if (!views.history.isRecorded) own?.unrecorded(id, views.everything().damage);
  for (const end of views.ends()) if (end.source === ADOPTED) own?.unrecorded(id, views.view(end).damage);
  own?.countStrays(id, views.strays().length);
  for (const { all } of views.history.sources)
    await tallies.get(all[0]?.adapter ?? "")?.prove(views, all.toReversed());
  return title;
}

/** Who stored the sessions: a client, or a program that pond has no reader for. */
type Owner = Adapter | { readonly name: string; readonly title: string };

class StoredTally {
  readonly adapter: Owner;
  readonly #counts = {
    sessions: 0,
    sources: 0,
    states: 0,
    proven: 0,
    partial: 0,
    unrecorded: 0,
    unequal: 0,
    strays: 0,
  };
  readonly #faults = new Map<string, string[]>();
  readonly #strays: string[] = [];

  constructor(adapter: Owner) {
    this.adapter = adapter;
  }

  finish(sourcesOf: (session: string) => UnequalSession["sources"]): StoredVerification {
    const faults = [...this.#faults];
    const lines = faults.slice(0, MAX_DIFFERENCES).map(([, [first = "", ...more]]) => {
      return more.length === 0 ? first : `${first} (and ${more.length} more of this session)`;
    });
    return {
      adapter: this.adapter.name,
      ...this.#counts,
      stray_sessions: this.#strays,
      differences: lines,
      unequal_sessions: faults.map(([session_id, each]) => ({
        session_id,
        faults: each.length,
        sources: sourcesOf(session_id),
      })),
    };
  }

  countStrays(session: string, strays: number): void {
    this.#counts.strays += strays;
    if (strays > 0) this.#strays.push(session);
  }

  countSession(): void {
    this.#counts.sessions += 1;
  }

  fault(session: string, lines: readonly string[]): void {
    this.#counts.unequal += 1;
    this.#faults.set(session, [...(this.#faults.get(session) ?? []), ...lines]);
  }

  unrecorded(session: string, damage: readonly string[]): void {
    this.#counts.unrecorded += 1;
    if (damage.length > 0) this.fault(session, damage);
  }

  /** The newest first: what one only goes on from is proven on the way to it. */
  async prove(views: StateViews, states: readonly StateHead[]): Promise<void> {
    const { adapter } = this;
    if (!("restore" in adapter)) return;
    this.#counts.sources += 1;
    let later: { readonly head: StateHead; readonly hashes: RecordHashes } | undefined;
    const proven = new Set<string>();
    for (const head of states) {
      this.#counts.states += 1;
      // A state that returned, or whose rows were lost and stored again, restores as the newer one of the same content.
      if (head.whole && proven.has(contentOf(head))) {
        this.#counts.proven += 1;
        continue;
      }
      if (!head.whole) this.#counts.partial += 1;
      const isOnTheWay =
        later !== undefined &&
        head.whole &&
        head.side === later.head.side &&
        views.isBeginningOf(head, later.head);
      if (isOnTheWay && later !== undefined) {
        if (chainAt(later.hashes, head.records) === head.digest) this.#counts.proven += 1;
        else
          this.fault(head.session_id, [
            `${nameOf(head)}: its records do not restore as they were read: their digests differ`,
          ]);
        continue;
      }
      const { faults, hashes } = await proveState(adapter, head, views.view(head));
      if (faults.length > 0) this.fault(head.session_id, faults);
      else if (head.whole) {
        this.#counts.proven += 1;
        proven.add(contentOf(head));
      }
      if (hashes !== undefined && faults.length === 0) later = { head, hashes };
    }
  }
}

const contentOf = ({ form, records, digest, side }: StateHead): string =>
  `${form} ${records} ${digest} ${side}`;

/** The chain of the first records of a state. */
function chainAt({ log }: RecordHashes, records: number): string {
  return log.slice(0, records).reduce((chain, { hash }) => linkTo(chain, hash), NO_RECORDS);
}
