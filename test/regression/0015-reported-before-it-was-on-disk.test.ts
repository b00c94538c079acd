/**
 * Whatever pond reports stored or restored survives a power cut (spec.md#storage-durability): 67 tests stayed green when
 * nothing was synced to the disk any more. Here the power is cut at the moments that count, and what is left is opened.
 */
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { restore, search, sync, verifyStored } from "../../src/handlers/index.ts";
import { PowerCut } from "../support/power-cut.ts";
import {
  carryOn,
  hitsOf,
  idsOf,
  ORIGIN,
  SUBAGENT,
  SUBAGENT_WORDS,
  WORDS,
  writeOrigin,
} from "../support/restored-story.ts";
import type { TempContext } from "../support/temp-context.ts";
import { tempContext } from "../support/temp-context.ts";

/** Not the indexes: what is proven here is the same without them. */
const IMPORT = { stages: ["import"] } as const;

/** Stores that a power cut would have left: each time before cursors were on the disk, and whenever asked for. */
class Cuts implements Disposable {
  readonly left: string[] = [];
  readonly #cut: PowerCut;
  readonly #home: string;

  private constructor(home: string, cut: PowerCut) {
    this.#home = home;
    this.#cut = cut;
  }

  static async of({ home, context }: TempContext): Promise<Cuts> {
    const cursors = join(context.config.paths.state, "cursors");
    const onSync = (path: string): void => {
      if (dirname(path) === cursors) cuts.here();
    };
    // The table that is written last, before the mark and the cursors.
    const cuts: Cuts = new Cuts(home, await PowerCut.watch({ onSync, slow: "/sources.lance/" }));
    return cuts;
  }

  here(): void {
    const into = join(this.#home, `cut-${this.left.length}`);
    this.#cut.leave(join(this.#home, "store"), into);
    this.left.push(into);
  }

  [Symbol.dispose](): void {
    this.#cut[Symbol.dispose]();
  }
}

/** Both sessions are stored as they were read, and their words are found. */
async function expectStored(store: string, words: readonly string[]): Promise<void> {
  await using temp = await tempContext({ env: { POND_STORE: store } });
  expect(await idsOf(temp.context)).toEqual([ORIGIN, SUBAGENT]);
  for (const word of words) expect([word, await hitsOf(temp.context, word)]).toEqual([word, [ORIGIN]]);
  for (const word of SUBAGENT_WORDS) expect(await hitsOf(temp.context, word)).toEqual([SUBAGENT]);
  const { clients } = await verifyStored(temp.context, {});
  expect(clients).toMatchObject([{ adapter: "claude-code", sessions: 2, unequal: 0, unrecorded: 0 }]);
}

test("rows are on the disk before the cursors of their sources, and when a sync reports them", async () => {
  await using temp = await tempContext();
  const log = writeOrigin(temp.home);
  using cuts = await Cuts.of(temp);
  await sync(temp.context, {});
  cuts.here();
  const first = cuts.left.length;
  expect(first).toBeGreaterThan(1);
  carryOn("claude-code", log, "And the platypus?");
  await sync(temp.context, IMPORT);
  cuts.here();
  expect(cuts.left.length).toBeGreaterThan(first + 1);
  for (const store of cuts.left.slice(0, first)) await expectStored(store, WORDS);
  for (const store of cuts.left.slice(first)) await expectStored(store, [...WORDS, "platypus"]);
});

test("rows that another process wrote, and may have died before it synced them, are so before they count as stored", async () => {
  await using temp = await tempContext();
  const { home } = temp;
  writeOrigin(home);
  await sync(temp.context, IMPORT);
  rmSync(join(temp.context.config.paths.state, "cursors"), { recursive: true });
  // One that finds everything stored.
  await using next = await tempContext({ home });
  using cuts = await Cuts.of(next);
  const { clients } = await sync(next.context, IMPORT);
  expect(clients).toMatchObject([{ read: 2, stored: { messages: { inserted: 0, matched: 8 } } }]);
  expect(cuts.left.length).toBeGreaterThan(0);
  for (const store of cuts.left) await expectStored(store, WORDS);
});

/** Not drafts, which nobody opens. */
const TABLE = /^(?!pond_new_).*\.lance$/;

test("a table that has its name on the disk has all that it needs to be opened there", async () => {
  await using temp = await tempContext();
  writeOrigin(temp.home);
  const store = join(temp.home, "store");
  const empty = new Set<string>();
  const onSync = (): void => {
    for (const [name, files] of cut.foldersIn(join(store, "default")))
      if (TABLE.test(name) && !files.some((file) => file.endsWith(".manifest"))) empty.add(name);
  };
  using cut = await PowerCut.watch({ onSync });
  await sync(temp.context, IMPORT);
  expect([...empty]).toEqual([]);
  expect(cut.left(store).some((file) => file.endsWith(".manifest"))).toBe(true);
});

test("a restore is on the disk when it is reported, and so is the record that says what it wrote", async () => {
  await using temp = await tempContext();
  const { home, context } = temp;
  writeOrigin(home);
  const out = join(home, "out");
  using cut = await PowerCut.watch({ slow: out });
  await sync(context, IMPORT);
  const { files } = await restore(context, { session_id: ORIGIN, to: "codex-cli", out });
  expect(files).toHaveLength(2);
  expect(cut.left(out)).toEqual(files.map(({ path }) => path.slice(out.length + 1)).toSorted());
  cut.leave(join(home, "store"), join(home, "cut"));
  await using left = await tempContext({ env: { POND_STORE: join(home, "cut") } });
  expect(await (await left.context.store()).restoresOf([ORIGIN, SUBAGENT])).toHaveLength(2);
  expect((await search(left.context, { query: "narwhal" })).sessions).toHaveLength(1);
});
