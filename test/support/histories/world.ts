/**
 * The world of one history: places on disk, machines that sync them into one store, and what is known of both without
 * asking pond: which states each source had, and which of them pond has read.
 */
import { readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TempDir } from "../temp-dir.ts";
import { tempDir } from "../temp-dir.ts";
import type { Machine, SyncOrder } from "./machine.ts";
import { startMachine, syncHere } from "./machine.ts";
import type { Written } from "./disk.ts";
import { Disk } from "./disk.ts";
import type { Edit } from "./edits.ts";
import { edited, isEdit } from "./edits.ts";
import { killedSync } from "./killed-sync.ts";
import type { MachineNumber, Operation, PlaceNumber } from "./operations.ts";
import type { Draft, SessionNumber, SourceModel, State, Turn } from "./source-model.ts";
import { settledEntries, START } from "./source-model.ts";

const MINUTE = 60_000;
/** After this nothing waits for more. */
const REST = 120 * MINUTE;

/** How a source was read. */
export interface Read {
  readonly state: State;
  readonly machine: MachineNumber;
  /** Whole; at work, so that some of it may have been held back; or by a sync that was killed, nobody knows how far. */
  readonly how: "whole" | "live" | "killed";
}

/** One session in one place. */
export interface Source {
  readonly place: PlaceNumber;
  readonly session: SessionNumber;
  /** What is on disk; undefined: it was taken away, or was never there. */
  state: State | undefined;
  /** Every state that it had, the newest last. */
  readonly past: { readonly state: State; readonly at: number }[];
  /** What the last sync found that could read all of it. */
  read: Read | undefined;
}

export class World implements AsyncDisposable {
  readonly model: SourceModel;
  readonly sources: readonly Source[];
  /** Every record that was ever on disk, whole. */
  readonly ever = new Set<string>();
  /** Words of records that were read from a source that could be read. */
  readonly words = new Set<string>();
  now = START + REST;
  readonly #folder: TempDir;
  readonly #disks: readonly Disk[];
  readonly #machines = new Map<MachineNumber, Machine>();
  /** Where each machine has the folder that is its own. */
  readonly #own: string;
  #drafts = 0;

  static async start(model: SourceModel): Promise<World> {
    return new World(model, await tempDir());
  }

  private constructor(model: SourceModel, folder: TempDir) {
    this.model = model;
    this.#folder = folder;
    this.#own = join(folder.path, "own");
    this.#disks = [0, 1, 2].map((place) => {
      const root = join(folder.path, `place-${place}`);
      return new Disk({
        root,
        seenAs: place === 0 ? root : this.#own,
        aside: join(folder.path, `aside-${place}`),
      });
    });
    this.sources = ([0, 1, 2] as const).flatMap((place) =>
      ([0, 1] as const).map((session): Source => ({
        place,
        session,
        state: undefined,
        past: [],
        read: undefined,
      })),
    );
  }

  /** As machines see it. */
  root(place: PlaceNumber): string {
    return this.#disks[place]!.seenAs;
  }

  /** The first place is seen by both machines; each has another one of its own, by the same path. */
  placesOf(machine: MachineNumber): readonly PlaceNumber[] {
    return [0, ownPlace(machine)];
  }

  /** Runs what looks at the disk as the machine sees it. */
  async at<T>(machine: MachineNumber, run: () => Promise<T>): Promise<T> {
    const { root } = this.#disks[ownPlace(machine)]!;
    renameSync(root, this.#own);
    try {
      return await run();
    } finally {
      renameSync(this.#own, root);
    }
  }

  /** True while something of the source is on disk and cannot be read. */
  isFaulty({ place, session, state }: Source): boolean {
    return state !== undefined && this.#disks[place]!.isFaulty(this.#paths(session, state));
  }

  async machine(number: MachineNumber): Promise<Machine> {
    const known = this.#machines.get(number);
    if (known !== undefined) return known;
    const home = join(this.#folder.path, `machine-${number}`);
    const store = join(this.#folder.path, "store");
    const machine = await startMachine({ home, store }, () => this.now);
    this.#machines.set(number, machine);
    return machine;
  }

  async run(operation: Operation): Promise<void> {
    this.now += MINUTE;
    if (isEdit(operation)) return this.#edit(operation);
    switch (operation.kind) {
      case "sync":
        return this.#sync(operation);
      case "race":
        return this.#race(operation);
      case "kill":
        return this.#kill(operation);
      case "forget":
        return this.#forget((await this.machine(operation.machine)).home);
      case "remove":
        return this.#write(this.source(operation), undefined, { how: "replace", at: this.now });
      case "fault":
        return this.#fault(operation);
      case "heal":
        return this.#heal(this.source(operation));
      case "copy":
        return this.#copy(operation);
      case "diverge": {
        this.#copy({ ...operation, kind: "copy", back: 0, isOlder: false });
        const { place, from } = operation;
        for (const each of place === from ? [place] : [place, from])
          this.#edit({ ...operation, kind: "append", place: each, how: "append" });
        return;
      }
    }
  }

  source({ place, session }: { readonly place: PlaceNumber; readonly session: SessionNumber }): Source {
    return this.sources.find((each) => each.place === place && each.session === session)!;
  }

  /** Everything that is there, by one machine, when nothing waits. */
  async syncAll(machine: MachineNumber, isFull = false): Promise<void> {
    await this.#sync({ machine, places: this.placesOf(machine), isLive: false, isFull });
  }

  #edit(edit: Edit): void {
    const source = this.source(edit);
    const editing = { model: this.model, session: edit.session, draft: (turn: Turn) => this.#draft(turn) };
    const next = edited(source.state, edit, editing);
    if (next === undefined) return;
    const isOlder = edit.kind === "side file" && edit.isOlder;
    const how = edit.kind === "side file" ? "replace" : edit.kind === "tear" ? "append" : edit.how;
    this.#write(source, next, { how, at: isOlder ? 2 * START - this.now : this.now });
  }

  #copy({ place, session, from, back, isOlder }: Extract<Operation, { kind: "copy" }>): void {
    const found = this.source({ place: from, session }).past.at(-1 - back);
    if (found === undefined) return;
    const at = isOlder ? found.at : this.now;
    this.#write(this.source({ place, session }), found.state, { how: "replace", at });
  }

  #fault({ place, session, file, fault }: Extract<Operation, { kind: "fault" }>): void {
    const { state } = this.source({ place, session });
    if (state === undefined) return;
    const paths = this.#paths(session, state);
    this.#disks[place]!.fault(paths[file % paths.length]!, fault);
  }

  #heal({ place, session, state }: Source): void {
    if (state !== undefined) for (const path of this.#paths(session, state)) this.#disks[place]!.heal(path);
  }

  #draft(turn: Turn): Draft {
    this.#drafts += 1;
    const word = `word${String(this.#drafts).padStart(4, "0")}x`;
    return { turn, number: this.#drafts, word, at: this.now };
  }

  /** The files of a source, its database included. */
  #paths(session: SessionNumber, state: State): readonly string[] {
    const { container } = this.model;
    const files = [...this.model.files(session, state).keys()];
    return container.kind === "database" ? [container.path, ...files] : files;
  }

  #write(source: Source, next: State | undefined, written: Written): void {
    const disk = this.#disks[source.place]!;
    const there = this.sources.filter(({ place }) => place === source.place);
    const changes = there.map((each) => ({
      session: each.session,
      before: each.state,
      after: each === source ? next : each.state,
    }));
    const { model } = this;
    const filesOf = (session: SessionNumber, state: State | undefined) =>
      state === undefined ? [] : [...model.files(session, state)];
    const { container } = model;
    const isEmpty = changes.every(({ after }) => after === undefined);
    const database = container.kind === "database" && isEmpty ? [[container.path, ""] as const] : [];
    disk.write(
      new Map([...changes.flatMap(({ session, before }) => filesOf(session, before)), ...database]),
      new Map(changes.flatMap(({ session, after }) => filesOf(session, after))),
      written,
    );
    if (container.kind === "database" && !isEmpty) {
      const rowsOf = (session: SessionNumber, state: State | undefined) =>
        state === undefined ? {} : (model.rows?.(session, state) ?? {});
      const rows = changes.map(({ session, before, after }) => ({
        before: rowsOf(session, before),
        after: rowsOf(session, after),
      }));
      disk.writeRows(container.path, rows, written);
    }
    source.state = next;
    if (next === undefined) return;
    source.past.push({ state: next, at: written.at });
    for (const records of model.records(source.session, next).values())
      for (const record of records) this.ever.add(record);
  }

  async #sync(reading: Omit<Extract<Operation, { kind: "sync" }>, "kind">): Promise<void> {
    const { machine, isLive, isFull } = reading;
    if (!isLive) this.now += REST;
    const places = this.#seen(reading);
    const syncing = await this.machine(machine);
    await this.at(machine, () => syncHere(syncing, this.#order(places, isFull)));
    this.#remember(places, { machine, how: isLive ? "live" : "whole" });
  }

  /** A place that the machine does not have is not there for it. */
  #seen({ machine, places }: Pick<Extract<Operation, { kind: "sync" }>, "machine" | "places">) {
    return this.placesOf(machine).filter((place) => places.includes(place));
  }

  #order(places: readonly PlaceNumber[], verify: boolean): SyncOrder {
    const paths = places.map((place) => this.root(place));
    return { adapter: this.model.adapter, paths, verify, now: this.now };
  }

  #remember(places: readonly PlaceNumber[], { machine, how }: Omit<Read, "state">): void {
    for (const source of this.sources) {
      if (source.state === undefined || !places.includes(source.place) || this.isFaulty(source)) continue;
      source.read = { state: source.state, machine, how };
      if (how === "whole")
        for (const { word } of settledEntries(source.state)) if (word !== undefined) this.words.add(word);
    }
  }

  /** The first insert of the machine waits for a whole sync of the other one. */
  async #race(racing: Extract<Operation, { kind: "race" }>): Promise<void> {
    this.now += REST;
    const { machine, table } = racing;
    const number = machine === 0 ? 1 : 0;
    const [first, other] = [await this.machine(machine), await this.machine(number)];
    const [places, others] = [this.#seen(racing), this.#seen({ ...racing, machine: number })];
    const meanwhile = async (): Promise<void> => {
      const { root } = this.#disks[ownPlace(machine)]!;
      renameSync(this.#own, root);
      await this.at(number, () => syncHere(other, this.#order(others, false)));
      renameSync(root, this.#own);
      this.#remember(others, { machine: number, how: "whole" });
    };
    const { tables } = await first.context.store();
    using _ = beforeFirstInsert(tables[table], meanwhile);
    await this.at(machine, () => syncHere(first, this.#order(places, false)));
    this.#remember(places, { machine, how: "whole" });
  }

  /** What a killed sync has read cannot be told from outside; the next one must make it whole. */
  async #kill(killing: Extract<Operation, { kind: "kill" }>): Promise<void> {
    this.now += REST;
    const { machine, point } = killing;
    const places = this.#seen(killing);
    const killed = await this.machine(machine);
    const isWhole = await this.at(machine, () => killedSync(killed, this.#order(places, false), point));
    this.#remember(places, { machine, how: isWhole ? "whole" : "killed" });
  }

  #forget(home: string): void {
    for (const path of readdirSync(home, { recursive: true, encoding: "utf8" }))
      if (path.endsWith("cursors")) rmSync(join(home, path), { recursive: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const disk of this.#disks) disk.healAll();
    for (const { context } of this.#machines.values()) await context[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }
}

const ownPlace = (machine: MachineNumber): PlaceNumber => (machine === 0 ? 1 : 2);

interface Insertable {
  insert(batch: never): Promise<{ readonly inserted: number }>;
}

function beforeFirstInsert(table: Insertable, run: () => Promise<void>): Disposable {
  const insert = table.insert.bind(table);
  let isFirst = true;
  table.insert = async (batch) => {
    const isNow = isFirst;
    isFirst = false;
    if (isNow) await run();
    return insert(batch);
  };
  return { [Symbol.dispose]: () => void Reflect.deleteProperty(table, "insert") };
}
