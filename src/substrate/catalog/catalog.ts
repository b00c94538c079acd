/**
 * From (namespace, table) to an open table: the one lookup (spec.md#lance-chokepoints-catalog). Layout
 * `<root>/<namespace>/<table>.lance`.
 */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, PondError, toPondError } from "../../base/errors.ts";
import { sentence } from "../../base/sentence.ts";
import { makeFolders, notAFolder } from "../../base/files/folders.ts";
import { NAMESPACE_PATTERN } from "../../config/index.ts";
import { appendFromTheStart } from "../handle/append.ts";
import { schemaOf } from "../arrow/schema.ts";
import { type ConnectOptions, connectAlone, connectShared, type SharedConnection } from "./connection.ts";
import { createTable, RESERVED } from "./create.ts";
import type { Handle } from "../handle/handle.ts";
import { type Arrow, type Lance, type LanceConnection, type LanceTable, loadLance } from "../engine/lance.ts";
import { Durability } from "../local/durable.ts";
import { ignoreMissing } from "../local/files.ts";
import { hasGarbage, removeGarbage } from "../local/garbage.ts";
import { isLocalDisk } from "../local/local-disk.ts";
import { damaged, recoverTable, type RecoveryIssue } from "../local/recover.ts";
import { removeDerived } from "../local/set-aside.ts";
import { draftLocks, joinWriterLock, type WriterLock } from "../local/writer-lock.ts";
import { ABANDONED_MS } from "../maintain/clean-up.ts";
import { ensureTextIndexes } from "../maintain/indexes.ts";
import { indexesWithoutFiles, indexesInError, remakeIndexes } from "../maintain/mend.ts";
import { MergeChoice } from "../engine/merge-choice.ts";
import { OwnAppends } from "../engine/own-appends.ts";
import { probeConditionalWrites } from "./probe.ts";
import { reconcile } from "./reconcile.ts";
import { type Fault, faultOf, withRetry } from "../engine/retry.ts";
import { salvage } from "../write/salvage.ts";
import type { TableSpec } from "../engine/spec.ts";

export interface CatalogOptions extends ConnectOptions {
  readonly create: boolean;
}

/** Old versions serve readers that are still on them. */
const TIDY_AFTER_MS = 3_600_000;

export class Catalog {
  readonly lance: Lance;
  readonly #options: CatalogOptions;
  readonly #shared: SharedConnection;
  readonly #issues: RecoveryIssue[] = [];
  readonly #mending = new Map<string, Promise<void>>();
  readonly #durability = new Map<string, Durability>();
  #annotated: Promise<LanceTable | undefined> | undefined;
  /** By table. Undefined where a lock would not reach everyone who writes. */
  readonly #locks: Map<string, WriterLock> | undefined;
  #isClosed = false;

  private constructor(
    options: CatalogOptions,
    engine: { readonly lance: Lance; readonly shared: SharedConnection; readonly isLocal: boolean },
  ) {
    this.lance = engine.lance;
    this.#options = options;
    this.#shared = engine.shared;
    this.#locks = engine.isLocal ? new Map() : undefined;
  }

  static async open(options: CatalogOptions): Promise<Catalog> {
    const { url, namespace, create } = options;
    // spec.md#wire-namespace-resolution
    if (!NAMESPACE_PATTERN.test(namespace))
      throw new PondError("validation_failed", `namespace ${JSON.stringify(namespace)} is not usable`, {
        hint: "letters, digits, dot, dash and underscore; not longer than 128",
      });
    if (url.kind === "local")
      await prepareDirectory(join(url.href, namespace), { create, now: options.policy.clock.now() });
    const lance = loadLance();
    const isLocal = url.kind === "local" && (await isLocalDisk(join(url.href, namespace)));
    return new Catalog(options, { lance, shared: await connectShared(lance, options), isLocal });
  }

  /** What was found torn and moved to quarantine while opening tables. */
  get issues(): readonly RecoveryIssue[] {
    return this.#issues;
  }

  async tables(): Promise<string[]> {
    const names: string[] = [];
    let pageToken: string | undefined;
    do {
      const options = pageToken === undefined ? {} : { pageToken };
      const page = await this.#call("list the tables", () => this.#shared.connection.listTables(options));
      names.push(...page.tables);
      pageToken = page.pageToken;
    } while (pageToken !== undefined && pageToken !== "");
    return names.filter((name) => !name.startsWith(RESERVED)).toSorted();
  }

  /** Opens a table, makes it if it is missing and that is allowed, and brings it up to its declaration. */
  async table<S extends TableSpec>(spec: S): Promise<Handle<S>> {
    const found = await this.#open(spec.name);
    if (found !== undefined) return this.#ready(found, spec);
    if (!this.#options.create)
      throw new PondError("not_found", `no table ${spec.name} in ${this.#options.url.display}`, {
        hint: sentence`run ${{ do: "sync" }} first`,
      });
    const schema = schemaOf(this.lance, spec);
    if (this.#locks !== undefined) schema.metadata.set(...appendFromTheStart());
    await this.#create(spec.name, schema, {
      prepare: (table) => ensureTextIndexes(this.#handle(table, spec)),
      repair: (table) =>
        salvage(this.#handle(table, spec), (version) =>
          this.#shared.connection.openTable(spec.name, [], { version }),
        ),
    });
    const created = await this.#open(spec.name);
    const directory = this.#directory(spec.name);
    if (created === undefined && directory !== undefined)
      throw damaged(directory, "it has files, and no list of them is left");
    if (created === undefined)
      throw new PondError("internal", `table ${spec.name} vanished while it was being made`);
    return this.#ready(created, spec);
  }

  /** The schema of a table with its metadata; undefined if there is no such table. */
  async schema(name: string): Promise<Arrow.Schema | undefined> {
    const table = await this.#open(name);
    return table === undefined ? undefined : await this.#call(`read ${name}`, () => table.schema());
  }

  /** Adds to the metadata of a column what is made of the newest, and says the version that holds it. */
  async annotate(
    name: string,
    column: string,
    metadata: (schema: Arrow.Schema) => Readonly<Record<string, string>>,
  ): Promise<number> {
    this.#annotated ??= this.#open(name);
    const table = await this.#annotated;
    if (table === undefined) throw new PondError("internal", `there is no table ${name} to write to`);
    const version = await this.#call(`update ${name}`, async () => {
      await table.checkoutLatest();
      const updates = { ...metadata(await table.schema()) };
      await table.updateFieldMetadata([{ path: column, metadata: updates }]);
      return table.version();
    });
    await this.#settle(name);
    return version;
  }

  /** Removes the old versions of a table. What it leaves behind when it fails the next one removes. */
  async tidy(name: string): Promise<void> {
    const cleanupOlderThan = new Date(this.#options.policy.clock.now() - TIDY_AFTER_MS);
    await (await this.#annotated)?.optimize({ cleanupOlderThan }).catch(() => undefined);
    await this.#settle(name);
  }

  /**
   * Takes away what no version of a local table needs that is written to without its lock; looks at nothing else than
   * names and times where there is none.
   */
  async cleanUp(name: string): Promise<void> {
    const directory = this.#directory(name);
    const now = this.#options.policy.clock.now();
    if (directory === undefined) return;
    const versionsBefore = now - TIDY_AFTER_MS;
    const abandoned = now - ABANDONED_MS;
    try {
      if (await hasGarbage(directory, versionsBefore))
        await removeGarbage(directory, {
          versionsBefore,
          filesBefore: abandoned,
          draftsBefore: abandoned,
        });
    } catch (error) {
      // It is not there yet, or what is left now goes the next time.
      if (errnoOf(error) === undefined) throw error;
    }
  }

  /** Makes a table that holds nothing but its schema's metadata. The first one made is the one that stays. */
  createMarker(name: string, metadata: ReadonlyMap<string, string>): Promise<void> {
    const { arrow } = this.lance;
    const schema = new arrow.Schema([new arrow.Field("id", new arrow.Utf8(), false)], new Map(metadata));
    const repair = async (table: LanceTable): Promise<void> => {
      await table.checkout(1);
      await table.restore();
    };
    return this.#create(name, schema, { repair });
  }

  /** Throws where an object store ignores conditional writes. */
  probe(): Promise<void> {
    const { url, policy } = this.#options;
    const connect = (): Promise<LanceConnection> => connectAlone(this.lance, this.#options);
    return probeConditionalWrites(this.lance, { where: url.display, policy, connect });
  }

  async drop(name: string): Promise<void> {
    const directory = this.#directory(name);
    // The engine takes one file after the other: half of a table could neither be opened nor made again.
    const drop = (): Promise<void> =>
      this.#call(`drop ${name}`, () =>
        directory === undefined ? this.#shared.connection.dropTable(name) : removeDerived(directory),
      );
    await (this.#lock(name)?.shared(this.#options.policy.clock, drop) ?? drop());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const lock of this.#locks?.values() ?? []) lock.leave();
    this.#shared.release();
  }

  /** Where a local table lies; undefined for other stores. */
  #directory(name: string): string | undefined {
    const { url, namespace } = this.#options;
    return url.kind === "local" ? join(url.href, namespace, `${name}.lance`) : undefined;
  }

  #lock(name: string): WriterLock | undefined {
    const directory = this.#directory(name);
    if (directory === undefined || this.#locks === undefined) return undefined;
    const lock = this.#locks.get(name) ?? joinWriterLock(directory);
    this.#locks.set(name, lock);
    return lock;
  }

  #handle<S extends TableSpec>(native: LanceTable, spec: S): Handle<S> {
    const { url, policy } = this.#options;
    const directory = this.#directory(spec.name);
    const settle = (): Promise<void> => this.#settle(spec.name);
    return {
      lance: this.lance,
      spec,
      native,
      policy,
      where: url.display,
      directory,
      settle,
      mend: (error) => this.#mend(spec, error),
      lock: this.#lock(spec.name),
      mergeChoice: new MergeChoice(),
      ownAppends: new OwnAppends(),
    };
  }

  /** Makes the indexes anew that an error is about; where that is under way already, it is waited for. */
  async #mend(spec: TableSpec, error: unknown): Promise<boolean> {
    const directory = this.#directory(spec.name);
    if (directory === undefined) return false;
    const inFlight = this.#mending.get(spec.name);
    if (inFlight !== undefined) {
      await inFlight;
      return true;
    }
    const names = await indexesInError({ directory, spec }, error).catch(() => new Set<string>());
    if (names.size === 0) return false;
    await this.#remake(spec, names);
    return true;
  }

  async #remake(spec: TableSpec, names: ReadonlySet<string>): Promise<void> {
    const mine = this.#remakeAfter(this.#mending.get(spec.name), spec, names);
    this.#mending.set(spec.name, mine);
    try {
      await mine;
    } finally {
      if (this.#mending.get(spec.name) === mine) this.#mending.delete(spec.name);
    }
  }

  async #remakeAfter(
    before: Promise<void> | undefined,
    spec: TableSpec,
    names: ReadonlySet<string>,
  ): Promise<void> {
    await before;
    const table = await this.#open(spec.name);
    // What it takes for that calls for nothing of the kind: it would wait for itself.
    const mend = (): Promise<boolean> => Promise.resolve(false);
    if (table !== undefined) await remakeIndexes({ ...this.#handle(table, spec), mend }, names);
    for (const name of names)
      this.#issues.push({ kind: "index", table: spec.name, message: `index ${name} of ${spec.name}` });
  }

  /** Makes what was committed to a table survive a power cut; nothing to do on object stores. */
  async #settle(name: string): Promise<void> {
    const directory = this.#directory(name);
    if (directory === undefined) return;
    const durability = this.#durability.get(name) ?? new Durability(directory, this.#options.policy.clock);
    this.#durability.set(name, durability);
    await durability.settle().catch((error: unknown) => {
      throw toPondError(error);
    });
  }

  async #ready<S extends TableSpec>(native: LanceTable, spec: S): Promise<Handle<S>> {
    const handle = this.#handle(native, spec);
    const directory = this.#directory(spec.name);
    const lost = directory === undefined ? new Set<string>() : await indexesWithoutFiles(directory);
    if (lost.size > 0) await this.#remake(spec, lost);
    await reconcile(handle);
    // A creator may have been killed before it made them, and a newer declaration may want more.
    if (this.#options.create) await ensureTextIndexes(handle);
    return handle;
  }

  #create(
    name: string,
    schema: Arrow.Schema,
    hooks: {
      readonly prepare?: (table: LanceTable) => Promise<void>;
      readonly repair: (table: LanceTable) => Promise<void>;
    },
  ): Promise<void> {
    const { policy } = this.#options;
    const directory =
      this.#options.url.kind === "local"
        ? (each: string): string => this.#directory(each) ?? each
        : undefined;
    return this.#call(`create ${name}`, () =>
      createTable({
        connection: this.#shared.connection,
        name,
        schema,
        directory,
        clock: policy.clock,
        ...hooks,
      }),
    );
  }

  async #open(name: string): Promise<LanceTable | undefined> {
    await this.#recover(name, false);
    try {
      return await this.#call(`open ${name}`, () => this.#openOrRecover(name));
    } catch (error) {
      if (error instanceof PondError && error.code === "not_found") return undefined;
      throw error;
    }
  }

  async #openOrRecover(name: string): Promise<LanceTable> {
    try {
      return await this.#shared.connection.openTable(name);
    } catch (error) {
      const repairable: readonly Fault[] = ["corrupt", "stale"];
      if (!repairable.includes(faultOf(error)) || !(await this.#recover(name, true))) throw error;
      return await this.#shared.connection.openTable(name);
    }
  }

  /** True if something was moved away. */
  async #recover(name: string, deep: boolean): Promise<boolean> {
    const directory = this.#directory(name);
    if (directory === undefined) return false;
    const found = await recoverTable(directory, { now: this.#options.policy.clock.now(), deep }).catch(
      (error: unknown) => {
        throw toPondError(error);
      },
    );
    this.#issues.push(...found);
    return found.length > 0;
  }

  async #call<T>(what: string, run: () => Promise<T>): Promise<T> {
    return (await withRetry(this.#options.policy, { what, where: this.#options.url.display, run })).value;
  }
}

/** Tables that a killed process was making, or that could not be used and were set aside; and locks. */
async function removeDrafts(path: string, now: number): Promise<void> {
  const tables = (await readdir(path)).filter((name) => /^pond_(?:new|torn)_/.test(name));
  for (const draft of [...tables.map((name) => join(path, name)), ...(await draftLocks(path))]) {
    const made = await stat(draft).catch(ignoreMissing);
    if (made !== undefined && made.mtimeMs < now - ABANDONED_MS)
      await rm(draft, { recursive: true, force: true });
  }
}

/** The engine makes missing directories itself; a read must not. */
async function prepareDirectory(
  path: string,
  { create, now }: { readonly create: boolean; readonly now: number },
): Promise<void> {
  try {
    if (!create) await stat(path);
    else {
      makeFolders(path);
      await removeDrafts(path, now);
    }
  } catch (error) {
    if (!create && errnoOf(error) === "ENOENT")
      throw new PondError("not_found", `there is no store at ${path}`, {
        hint: sentence`run ${{ do: "sync" }} first`,
        cause: error,
      });
    throw errnoOf(error) === "ENOTDIR" ? notAFolder(path, error) : toPondError(error);
  }
}
