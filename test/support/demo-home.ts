/** A home with the sessions of the demo and a store of them, for tests that harm its files. */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { loadConfig } from "../../src/config/index.ts";
import type { Context } from "../../src/handlers/index.ts";
import { createContext, openDemo, sync } from "../../src/handlers/index.ts";
import { WITHOUT_VECTORS } from "./without-vectors.ts";

/** A home with the sessions of the demo, synced in two steps so that each table has several files. */
export class DemoHome implements AsyncDisposable {
  readonly path: string;
  readonly #close: () => Promise<void>;

  private constructor(path: string, close: () => Promise<void>) {
    this.path = path;
    this.#close = close;
  }

  /** Without a store yet. */
  static async unsynced(): Promise<DemoHome> {
    const { signal } = new AbortController();
    const demo = await openDemo({ signal, keep: true });
    await demo[Symbol.asyncDispose]();
    return new DemoHome(demo.home, async () => rmSync(demo.home, { recursive: true, force: true }));
  }

  static async make(): Promise<DemoHome> {
    const home = await DemoHome.unsynced();
    // Its indexes are the second one's work.
    await home.run((context) => sync(context, { adapters: ["claude-code"], stages: ["import"] }));
    await home.run((context) => sync(context, {}));
    return home;
  }

  get store(): string {
    return join(this.path, ".local/share/pond/store/default");
  }

  async run<T>(
    command: (context: Context) => Promise<T>,
    told: string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const environment = {
      env: { ...WITHOUT_VECTORS, ...env },
      home: this.path,
      platform: "linux" as const,
      cwd: this.path,
    };
    const config = await loadConfig({ environment });
    const { signal } = new AbortController();
    await using context = createContext({
      config,
      machine: environment,
      signal,
      onRepair: ({ message }) => told.push(message),
    });
    return await command(context);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

/** Files below a folder, relative to it, sorted. */
export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();

/** The data files of a table, the oldest first. */
export function dataFiles(home: DemoHome, table: string): string[] {
  const folder = join(home.store, `${table}.lance/data`);
  return readdirSync(folder)
    .filter((name) => name.endsWith(".lance"))
    .map((name) => join(folder, name))
    .toSorted((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs);
}
