/**
 * What a power cut would leave of a folder: the bytes that each file had when it was last synced, under the names that each
 * folder had when it was. It watches the real calls (`fsync` of files and folders, by handle or by number), so that it knows
 * nothing of who makes them or why. Some files are on a slow disk: whoever does not wait for it is overtaken.
 */
import fs from "node:fs";
import { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { vi } from "vitest";

/** How long a slow sync takes; whoever waits for it does not notice. */
const SLOW_MS = 50;

interface Watching {
  /** Called before each sync counts. */
  readonly onSync?: (path: string) => void;
  /** Part of the path of files that are slow to sync; none without it. */
  readonly slow?: string;
}

/** A file or folder, whatever its name: its inode may go to another one later. */
type Identity = string;

interface Handles {
  sync: (this: { readonly fd: number }) => Promise<void>;
}

export class PowerCut implements Disposable {
  readonly #files = new Map<Identity, Buffer>();
  readonly #folders = new Map<Identity, ReadonlyMap<string, Identity>>();
  readonly #restore: () => void;

  private constructor(handles: Handles, { onSync = () => undefined, slow }: Watching) {
    const { sync } = handles;
    const { fsyncSync } = fs;
    const note = (fd: number): void => {
      onSync(pathOf(fd));
      this.#note(pathOf(fd));
    };
    handles.sync = async function () {
      if (slow !== undefined && pathOf(this.fd).includes(slow)) await setTimeout(SLOW_MS);
      await sync.call(this);
      note(this.fd);
    };
    const spy = vi.spyOn(fs, "fsyncSync").mockImplementation((fd) => {
      fsyncSync(fd);
      note(fd);
    });
    syncBuiltinESMExports();
    this.#restore = () => {
      handles.sync = sync;
      spy.mockRestore();
      syncBuiltinESMExports();
    };
  }

  /** From now on; of what was written before nothing is on the disk. */
  static async watch(watching: Watching = {}): Promise<PowerCut> {
    await using handle = await open(import.meta.filename);
    return new PowerCut(Object.getPrototypeOf(handle) as Handles, watching);
  }

  /** Makes a folder hold what would be left of another one now. */
  leave(of: string, into: string): void {
    fs.mkdirSync(into, { recursive: true });
    const names = this.#folders.get(identityOf(of)) ?? new Map<string, Identity>();
    this.#leave(names, into);
  }

  /** The folders that would be left in a folder, each with the files that would be in it. */
  foldersIn(of: string): readonly (readonly [string, readonly string[]])[] {
    const names = fs.existsSync(of) ? this.#folders.get(identityOf(of)) : undefined;
    return [...(names ?? [])].map(([name, identity]) => [name, this.#below(this.#folders.get(identity))]);
  }

  /** What would be left of a folder now: the files in it, by their path below it. */
  left(of: string): readonly string[] {
    return this.#below(this.#folders.get(identityOf(of))).toSorted();
  }

  [Symbol.dispose](): void {
    this.#restore();
  }

  #below(names: ReadonlyMap<string, Identity> = new Map()): string[] {
    return [...names].flatMap(([name, identity]) =>
      this.#files.has(identity)
        ? [name]
        : this.#below(this.#folders.get(identity)).map((path) => `${name}/${path}`),
    );
  }

  #leave(names: ReadonlyMap<string, Identity>, into: string): void {
    for (const [name, identity] of names) {
      const path = join(into, name);
      const bytes = this.#files.get(identity);
      if (bytes !== undefined) fs.writeFileSync(path, bytes);
      const below = this.#folders.get(identity);
      if (below === undefined) continue;
      fs.mkdirSync(path);
      this.#leave(below, path);
    }
  }

  #note(path: string): void {
    const stats = fs.statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() === true) this.#files.set(identityOf(path), fs.readFileSync(path));
    if (stats?.isDirectory() !== true) return;
    const names = fs.readdirSync(path).filter((name) => fs.existsSync(join(path, name)));
    const entries = names.map((name) => [name, identityOf(join(path, name))] as const);
    this.#folders.set(identityOf(path), new Map(entries));
  }
}

const pathOf = (fd: number): string => fs.readlinkSync(`/proc/self/fd/${fd}`);

function identityOf(path: string): Identity {
  const { ino, birthtimeNs } = fs.statSync(path, { bigint: true });
  return `${ino} ${birthtimeNs}`;
}
