/** `demo`: a throwaway home with the made-up corpus, so that a person without sessions can try everything. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { makeFolders } from "../../base/files/folders.ts";
import { TEMPORARY, unusable } from "../../base/files/unusable.ts";
import { loadConfig } from "../../config/index.ts";
import type { Context } from "../context/context.ts";
import { createContext } from "../context/context.ts";
import { demoFiles } from "./demo-corpus.ts";

export interface Demo extends AsyncDisposable {
  /** Where the made-up clients keep their sessions, and pond its store. */
  readonly home: string;
  readonly context: Context;
}

/** Makes the home; it goes away with the demo unless it is to be kept. */
export async function openDemo(options: {
  readonly signal: AbortSignal;
  readonly keep: boolean;
}): Promise<Demo> {
  const home = await mkdtemp(join(tmpdir(), "pond-demo-")).catch((error: unknown) => {
    throw unusable(tmpdir(), TEMPORARY, error);
  });
  for (const { path, content } of demoFiles()) {
    const target = join(home, path);
    makeFolders(dirname(target));
    await writeFile(target, content, { flag: "wx" });
  }
  const environment = { env: {}, home, platform: process.platform, cwd: home };
  const config = await loadConfig({ environment });
  const context = createContext({ config, machine: environment, signal: options.signal });
  return {
    home,
    context,
    [Symbol.asyncDispose]: async () => {
      await context[Symbol.asyncDispose]();
      if (!options.keep) await rm(home, { recursive: true, force: true });
    },
  };
}
