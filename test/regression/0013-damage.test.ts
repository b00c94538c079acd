/**
 * Files of a store that are flipped, cut or lost: `verify --stored` notices every one that a retained version needs, nothing
 * is restored that is not as it was read, and `repair` mends what sources and copies allow (spec.md#storage-checksums,
 * spec.md#keep-repair). Trials are random; POND_DAMAGE_TRIALS says how many.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import {
  doctor,
  listSessions,
  repair,
  restore,
  search,
  sync,
  verify,
  verifyFiles,
  verifyStored,
} from "../../src/handlers/index.ts";
import { sessionId } from "../../src/model/index.ts";
import { appendSums } from "../../src/substrate/local/sums.ts";
import { changeRow } from "../support/changed-row.ts";
import { dataFiles, DemoHome, filesIn } from "../support/demo-home.ts";
import { tempDir } from "../support/temp-dir.ts";
import { plainText, stepsIn } from "../../src/base/sentence.ts";

const TRIALS = Number(process.env["POND_DAMAGE_TRIALS"] ?? 4);
const SEED = Number(process.env["POND_DAMAGE_SEED"] ?? Date.now() % 1e9);

/** A small generator, so that a trial can be run again by its seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Files whose loss no version minds: what the engine keeps of commits, hints, and pond's own log. */
const isNeeded = (file: string): boolean =>
  !/_transactions|latest_version_hint|_sums|_quarantine|\.locks/.test(file) && file.includes(".lance/");

type Harm = (path: string, random: (below: number) => number) => void;

const HARMS: Readonly<Record<string, Harm>> = {
  flip: (path, random) => {
    const bytes = readFileSync(path);
    const at = random(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
    writeFileSync(path, bytes);
  },
  truncate: (path, random) => truncateSync(path, random(statSync(path).size)),
  delete: (path) => rmSync(path),
};

/** Old versions are removed from the oldest on: one that is gone was not retained. */
const isOldestVersion = (file: string, files: readonly string[]): boolean =>
  file.includes("_versions") &&
  files.filter((each) => each.startsWith(file.slice(0, file.lastIndexOf("/")))).at(-1) === file;

/** What a trial says of a store with one damaged file. */
async function lookAndRepair(home: DemoHome, file: string) {
  const noticed = (await home.run((context) => verifyFiles(context)))?.damage ?? [];
  const findings = await home.run((context) => doctor(context, { deep: true }));
  const mended = await home.run((context) => repair(context));
  const proof = await home.run((context) => verify(context, {}));
  return {
    isNoticed: noticed.some((each) => file.startsWith(`${each.table}.lance/${each.file.replace(/\/$/, "")}`)),
    isFound: findings.some(({ topic, status }) => topic === "files" && status !== "ok"),
    left: mended.left,
    wrong: mended.stored.clients.flatMap(({ differences }) => differences),
    notProven: proof.clients.filter((client) => !client.proven),
    sessions: (await home.run((context) => listSessions(context, {}))).sessions.length,
  };
}

const MENDED = { isNoticed: true, isFound: true, left: [], wrong: [], notProven: [], sessions: 4 };

test(
  "every damaged file that a version needs is noticed, and repair leaves a store that is proven",
  { timeout: 900_000 },
  async () => {
    await using home = await DemoHome.make();
    await using folder = await tempDir();
    const copy = join(folder.path, "copy");
    cpSync(home.store, copy, { recursive: true });
    const files = filesIn(home.store).filter(isNeeded);
    expect((await home.run((context) => verifyFiles(context)))?.damage).toEqual([]);
    const random = randomFrom(SEED);
    for (let trial = 0; trial < TRIALS; trial++) {
      const file = files[random(files.length)] ?? "";
      const harms = Object.entries(HARMS).slice(0, isOldestVersion(file, files) ? 2 : 3);
      const [name, harm] = harms[random(harms.length)] ?? ["", HARMS["flip"]];
      harm?.(join(home.store, file), random);
      const what = `seed ${SEED}, trial ${trial}: ${name} ${file}`;
      const outcome = await lookAndRepair(home, file).catch((error: unknown) => ({ error }));
      expect({ what, ...outcome }).toEqual({ what, ...MENDED });
      rmSync(home.store, { recursive: true });
      cpSync(copy, home.store, { recursive: true });
    }
  },
);

/** Has all data files of a table taken for changed, though no value of theirs is: by false checksums. */
async function callDamaged(home: DemoHome, table: string): Promise<void> {
  const sum = { digest: "somethingelse", bytes: 0 };
  const files = dataFiles(home, table).map(
    (path) => [`data/${basename(path)}`, { ...sum, bytes: statSync(path).size }] as const,
  );
  await appendSums(join(home.store, `${table}.lance`), new Map(files));
}

const flipAt = (path: string, at: number): void => {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 4;
  writeFileSync(path, bytes);
};

test("indexes that lost their files are made again by whatever command needs them, and that is told", async () => {
  await using home = await DemoHome.make();
  await home.run((context) => sync(context, { stages: ["update-indexes"] }));
  const before = await home.run((context) => search(context, { query: "retry" }));
  for (const table of ["sessions", "messages", "parts", "sources", "summaries"])
    rmSync(join(home.store, `${table}.lance/_indices`), { recursive: true, force: true });
  const told: string[] = [];
  const after = await home.run((context) => search(context, { query: "retry" }), told);
  expect(after).toEqual(before);
  expect(told.join()).toContain("index search_text_fts of messages");
  expect(await home.run((context) => listSessions(context, {}))).toMatchObject({ sessions: { length: 4 } });
  expect(await home.run((context) => sync(context, { stages: ["update-indexes"] }))).toBeDefined();
  expect((await home.run((context) => verifyFiles(context)))?.damage.filter((each) => !each.is_old)).toEqual(
    [],
  );
});

test("a single file of an index that is gone is noticed by the search that needs it, and made again", async () => {
  await using home = await DemoHome.make();
  await home.run((context) => sync(context, { stages: ["update-indexes"] }));
  const before = await home.run((context) => search(context, { query: "retry" }));
  const indexes = join(home.store, "messages.lance/_indices");
  for (const name of filesIn(indexes).filter((file) => /tokens|lookup/.test(file)))
    rmSync(join(indexes, name));
  expect(await home.run((context) => search(context, { query: "retry" }))).toEqual(before);
});

test("what no source has any more stays as far as it can be read, and what cannot is named", async () => {
  await using home = await DemoHome.make();
  rmSync(join(home.path, ".claude"), { recursive: true });
  const [first = ""] = dataFiles(home, "messages");
  rmSync(first);
  const report = await home.run((context) => repair(context));
  expect(report.rows.taken_out).toBeGreaterThan(0);
  expect(report.left).toEqual([]);
  const wrong = report.stored.clients.flatMap(({ differences }) => differences);
  expect(wrong.join()).toContain("is not stored, though a recorded state contains it");
  // Everything else works again.
  expect(await home.run((context) => listSessions(context, {}))).toMatchObject({ sessions: { length: 4 } });
  expect(await home.run((context) => search(context, { query: "retry" }))).toBeDefined();
});

test("rows of a damaged file that their digests prove are kept as they were, though their sources are gone", async () => {
  await using home = await DemoHome.make();
  for (const client of [".claude", ".codex", ".pi"]) rmSync(join(home.path, client), { recursive: true });
  const before = await home.run((context) => verifyStored(context, {}));
  await callDamaged(home, "messages");
  const report = await home.run((context) => repair(context));
  expect(report.damage.length).toBeGreaterThan(0);
  expect(report.rows.readable).toBe(report.rows.taken_out);
  expect(report.left).toEqual([]);
  expect(report.stored).toEqual(before);
});

test("a repair that was cut off is gone on with", async () => {
  await using home = await DemoHome.make();
  for (const client of [".claude", ".codex", ".pi"]) rmSync(join(home.path, client), { recursive: true });
  const before = await home.run((context) => verifyStored(context, {}));
  await callDamaged(home, "parts");
  await callDamaged(home, "messages");
  const stopped = home.run((context) =>
    repair(context, {
      onStep: (step) => {
        if (step.startsWith("reading every source")) throw new Error("cut off");
      },
    }),
  );
  await expect(stopped).rejects.toThrow("cut off");
  const report = await home.run((context) => repair(context));
  expect(report.left).toEqual([]);
  expect(report.stored).toEqual(before);
});

test("maintenance does not merge what is damaged: it would get a good checksum", async () => {
  await using home = await DemoHome.make();
  for (const path of dataFiles(home, "messages")) flipAt(path, 40);
  await expect(home.run((context) => sync(context, { stages: ["update-indexes"] }))).rejects.toMatchObject({
    reason: "corrupt",
    hint: "run repair",
  });
});

test("doctor finds what is missing or cut without reading it, and does not advise itself", async () => {
  await using home = await DemoHome.make();
  const [first = ""] = dataFiles(home, "parts");
  truncateSync(first, 100);
  const findings = await home.run((context) => doctor(context));
  const files = findings.filter(({ topic }) => topic === "files");
  expect(files).toEqual([
    {
      topic: "files",
      status: "fail",
      message: expect.stringContaining("has the wrong size; it contains rows"),
      fix: [{ do: "repair" }],
    },
  ]);
  expect(findings.map(({ fix }) => plainText(fix ?? "")).join()).not.toContain("doctor");
});

test("doctor tells of several damaged files at once, and no other fix competes with the repair", async () => {
  await using home = await DemoHome.make();
  const [log = ""] = filesIn(join(home.path, ".claude")).filter((file) => file.endsWith(".jsonl"));
  writeFileSync(join(home.path, ".claude", log), readFileSync(join(home.path, ".claude", log), "utf8"));
  for (const table of ["parts", "messages"])
    for (const path of dataFiles(home, table)) truncateSync(path, 100);
  const findings = await home.run((context) => doctor(context));
  const [files, ...others] = findings.filter(({ topic }) => topic === "files");
  expect(others).toEqual([]);
  expect(files).toMatchObject({ status: "fail", fix: [{ do: "repair" }] });
  expect(files?.message).toMatch(/^\d+ files are damaged$/);
  expect(files?.details?.[0]).toContain("has the wrong size; it contains rows");
  const fixes = findings
    .filter(({ fix }) => stepsIn(fix).some((step) => step.do === "sync"))
    .map(({ fix = "" }) => plainText(fix));
  expect(fixes).not.toEqual([]);
  for (const fix of fixes) expect(fix).toMatch(/^after the repair: sync/);
});

test("a repair that was killed with rows kept aside reads every source again, and steps over a torn file", async () => {
  await using home = await DemoHome.make();
  for (const table of ["parts", "messages"]) {
    const [first = ""] = dataFiles(home, table);
    rmSync(first);
  }
  const stopped = home.run((context) =>
    repair(context, {
      onStep: (step) => {
        if (step.startsWith("reading every source")) throw new Error("killed");
      },
    }),
  );
  await expect(stopped).rejects.toThrow("killed");
  const salvage = join(home.store, "messages.lance/_salvage");
  mkdirSync(salvage, { recursive: true });
  writeFileSync(join(salvage, "unproven-torn-0-5.arrow.new"), "");
  const findings = await home.run((context) => doctor(context));
  expect(findings).toContainEqual({
    topic: "files",
    status: "fail",
    message: expect.stringContaining("a repair was cut off"),
    fix: [{ do: "repair" }],
  });
  const report = await home.run((context) => repair(context));
  expect(report.left).toEqual([]);
  expect(report.stored.clients.flatMap(({ differences }) => differences)).toEqual([]);
  for (const { proven } of (await home.run((context) => verify(context, {}))).clients)
    expect(proven).toBe(true);
});

test("after a repair every other machine reads its sources again", async () => {
  await using home = await DemoHome.make();
  const elsewhere = join(home.path, "elsewhere");
  const onOther = <T>(command: (context: Context) => Promise<T>): Promise<T> =>
    home.run(command, [], { XDG_STATE_HOME: elsewhere });
  await onOther((context) => sync(context, {}));
  rmSync(dataFiles(home, "messages")[0] ?? "");
  await home.run((context) => repair(context));
  expect((await onOther((context) => sync(context, {}))).notes).toEqual([
    expect.stringContaining("lacks what was stored in it before"),
  ]);
  expect((await onOther((context) => sync(context, {}))).notes).toEqual([]);
});

const LOSSES: Readonly<Record<string, (folder: string) => void>> = {
  "its folder": (folder) => rmSync(folder, { recursive: true }),
  "every list of its files": (folder) => rmSync(join(folder, "_versions"), { recursive: true }),
  "every list of its files and their copies": (folder) => {
    for (const name of ["_versions", "_sums"]) rmSync(join(folder, name), { recursive: true, force: true });
  },
};

test.each([
  ["messages", "its folder"],
  ["parts", "every list of its files"],
  ["sources", "every list of its files and their copies"],
] as const)(
  "a store whose table %s lost %s says so and is repaired from its sources",
  async (table, loss) => {
    await using home = await DemoHome.make();
    LOSSES[loss]?.(join(home.store, `${table}.lance`));
    expect((await home.run((context) => verifyFiles(context)))?.damage).toMatchObject([
      { table, what: "missing" },
    ]);
    const findings = await home.run((context) => doctor(context));
    expect(findings).toContainEqual(
      expect.objectContaining({ topic: "files", status: "fail", fix: [{ do: "repair" }] }),
    );
    const report = await home.run((context) => repair(context));
    expect(report.left).toEqual([]);
    expect(report.stored.clients.filter(({ unequal, unrecorded }) => unequal + unrecorded > 0)).toEqual([]);
    for (const { proven } of (await home.run((context) => verify(context, {}))).clients)
      expect(proven).toBe(true);
    expect(await home.run((context) => listSessions(context, {}))).toMatchObject({ sessions: { length: 4 } });
    expect(filesIn(home.store).filter((file) => file.startsWith("pond_lost_"))).toEqual([]);
  },
);

test("without its sources, what is left of a lost table is kept, and readers name the command that mends", async () => {
  await using home = await DemoHome.make();
  rmSync(join(home.path, ".claude"), { recursive: true });
  const folder = join(home.store, "messages.lance");
  for (const name of ["_versions", "_sums"]) rmSync(join(folder, name), { recursive: true });
  const commands: readonly ((context: Context) => Promise<unknown>)[] = [
    (context) => listSessions(context, {}),
    (context) => search(context, { query: "retry" }),
    (context) => sync(context, {}),
  ];
  for (const command of commands)
    await expect(home.run(command)).rejects.toMatchObject({ reason: "corrupt", hint: "run repair" });
  const report = await home.run((context) => repair(context));
  expect(report.stored.clients.map(({ unequal }) => unequal > 0)).toContain(true);
  expect(filesIn(home.store).filter((file) => file.startsWith("pond_lost_messages")).length).toBeGreaterThan(
    0,
  );
});

test("derived columns of proven rows are computed again: a search finds what was said, not what a flip made of it", async () => {
  await using home = await DemoHome.make();
  const find = (query: string): Promise<number> =>
    home.run(async (context) => (await search(context, { query })).matched_total);
  const before = await find("retry");
  expect(before).toBeGreaterThan(0);
  const { sessions } = await home.run((context) => search(context, { query: "retry" }));
  rmSync(join(home.path, ".claude"), { recursive: true });
  await home.run((context) =>
    changeRow(context, {
      table: "messages",
      session: sessions[0]?.session_id ?? "",
      column: "search_text",
      from: "retry",
      to: "rexry",
    }),
  );
  await callDamaged(home, "messages");
  const report = await home.run((context) => repair(context));
  expect(report.rows.proven).toBeGreaterThan(0);
  expect([await find("retry"), await find("rexry")]).toEqual([before, 0]);
});

test.each(["id", "session_id"])(
  "a row whose %s is damaged does not go back as a message that nobody wrote",
  async (column) => {
    await using home = await DemoHome.make();
    const count = (): Promise<number> =>
      home.run(async (context) => (await context.store()).tables.messages.count());
    const before = await count();
    const { sessions } = await home.run((context) => search(context, { query: "retry" }));
    const session = sessions[0]?.session_id ?? "";
    await home.run((context) =>
      changeRow(context, { table: "messages", session, column, from: "-", to: "+" }),
    );
    await callDamaged(home, "messages");
    const report = await home.run((context) => repair(context));
    expect(report.rows.left_out).toBe(1);
    expect(await count()).toBe(before);
    expect(report.stored.clients.flatMap(({ differences }) => differences)).toEqual([]);
  },
);

test("every state of a log that grew is proven and restored again after its rows were lost and read again", async () => {
  await using home = await DemoHome.unsynced();
  const [log = ""] = filesIn(join(home.path, ".claude")).filter((file) => file.endsWith(".jsonl"));
  const path = join(home.path, ".claude", log);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const id = basename(path, ".jsonl");
  for (const count of [2, 3, lines.length]) {
    writeFileSync(path, `${lines.slice(0, count).join("\n")}\n`);
    await home.run((context) => sync(context, {}));
  }
  for (const file of dataFiles(home, "messages")) rmSync(file);
  const report = await home.run((context) => repair(context));
  expect(report.stored.clients.flatMap(({ differences }) => differences)).toEqual([]);
  const out = join(home.path, "out");
  await home.run((context) => restore(context, { session_id: id, state: 2, out }));
  const [restored = ""] = filesIn(out).filter((file) => file.endsWith(`${id}.jsonl`));
  const back = readFileSync(join(out, restored), "utf8").trimEnd().split("\n");
  expect(back.map((line) => JSON.parse(line) as unknown)).toEqual(
    lines.slice(0, 3).map((line) => JSON.parse(line) as unknown),
  );
});

test("two repairs at once both end with a store that is whole", async () => {
  await using home = await DemoHome.make();
  rmSync(dataFiles(home, "messages")[0] ?? "");
  const reports = await Promise.all([1, 2].map(() => home.run((context) => repair(context))));
  for (const { left, stored } of reports) {
    expect(left).toEqual([]);
    expect(stored.clients.flatMap(({ differences }) => differences)).toEqual([]);
  }
});

/** Flips a bit of the first place in the data files of a table where a text is. */
function flipText(home: DemoHome, table: string, text: string): void {
  for (const path of dataFiles(home, table)) {
    const at = readFileSync(path).indexOf(text);
    if (at === -1) continue;
    flipAt(path, at);
    return;
  }
  throw new Error(`no data file of ${table} has ${text}`);
}

test.each(["source_agent", "project"] as const)(
  "a flipped bit in the %s of a session is never restored, and repair reads the session again",
  async (column) => {
    await using home = await DemoHome.make();
    const list = (): Promise<unknown> => home.run((context) => listSessions(context, {}));
    const before = await list();
    const [session] = (await home.run((context) => listSessions(context, {}))).sessions;
    flipText(home, "sessions", session?.[column] ?? "");
    const out = join(home.path, "out");
    await expect(
      home.run((context) => restore(context, { session_id: session?.id ?? "", out })),
    ).rejects.toMatchObject({ reason: "corrupt", hint: expect.stringContaining("run repair") });
    const report = await home.run((context) => repair(context));
    expect(report).toMatchObject({ left: [], rows: { lost: 0 } });
    expect(await list()).toEqual(before);
    expect((await home.run((context) => sync(context, { verify: true }))).clients).not.toContainEqual(
      expect.objectContaining({ stored: expect.objectContaining({ relabelled: expect.toSatisfy(Boolean) }) }),
    );
  },
);

test("a flipped bit in the id of a record without one leaves no record that nobody wrote", async () => {
  await using home = await DemoHome.make();
  const records = async (): Promise<readonly string[]> => {
    const { sessions } = await home.run((context) => listSessions(context, { source_agent: "codex-cli" }));
    const refs = await home.run(async (context) =>
      (await context.store()).messageOutlines(sessionId(sessions[0]?.id ?? "")),
    );
    return refs.map(({ id }) => id).toSorted();
  };
  const before = await records();
  flipText(home, "messages", before.find((id) => id.startsWith("event_msg/")) ?? "");
  await home.run((context) => repair(context));
  expect(await records()).toEqual(before);
});

test("two repairs of one store from two homes both end well, one behind the other", async () => {
  await using home = await DemoHome.make();
  await using other = await tempDir();
  rmSync(dataFiles(home, "messages")[0] ?? "");
  const state = { XDG_STATE_HOME: join(other.path, "state") };
  const [mine, theirs] = await Promise.all([
    home.run((context) => repair(context)),
    home.run((context) => repair(context), [], state),
  ]);
  for (const { left, stored, rows } of [mine, theirs]) {
    expect(left).toEqual([]);
    expect(rows.lost).toBe(0);
    expect(stored.clients.flatMap(({ differences }) => differences)).toEqual([]);
  }
});
