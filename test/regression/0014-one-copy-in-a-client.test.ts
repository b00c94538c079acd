/**
 * A client has a session once (spec.md#adapter-restore-once): a restore beside one of the same id is refused alike in all
 * clients, and a resume opens the one that is there, also from the directory that its project was moved to.
 */
import { appendFileSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { demoFiles } from "../../src/handlers/setup/demo-corpus.ts";
import { restore, sync } from "../../src/handlers/index.ts";
import { SESSION } from "../support/opencode-machine.ts";
import type { TempContext } from "../support/temp-context.ts";
import { tempContext } from "../support/temp-context.ts";
import type { Sentence } from "../../src/base/sentence.ts";
import type { RestoreReport } from "../../src/wire/restore.ts";

/** Not the indexes: what is found is the same without them. */
const IMPORT = { stages: ["import"] } as const;

const CLAUDE = "7b0c5a52-1f0e-4a57-9d3b-6a1f0d2c9e01";
const CODEX = "0199c2d4-5e6f-7a80-9b1c-2d3e4f5a6b03";
const PI = "5c1d7e90-3b2a-4f6c-8d1e-9a0b1c2d3e04";

interface Client {
  readonly name: string;
  readonly id: string;
  /** Its sessions below the home, and the file that holds this one. */
  readonly folder: string;
  readonly file: string;
  readonly project: string;
  /** What is run where the project was moved; `path` is the file that holds the session. */
  readonly opens: (path: string) => readonly (readonly unknown[])[];
}

const CLIENTS: readonly Client[] = [
  {
    name: "claude-code",
    id: CLAUDE,
    folder: ".claude/projects",
    file: `.claude/projects/-home-demo-projects-checkout/${CLAUDE}.jsonl`,
    project: "/home/demo/projects/checkout",
    opens: (path) => [["claude", "--resume", path]],
  },
  {
    name: "codex-cli",
    id: CODEX,
    folder: ".codex/sessions",
    file: `.codex/sessions/2026/10/11/rollout-2026-10-11T08-00-00-${CODEX}.jsonl`,
    project: "/home/demo/projects/weather",
    opens: () => [["codex", "resume", CODEX]],
  },
  {
    name: "pi",
    id: PI,
    folder: ".pi/agent/sessions",
    file: `.pi/agent/sessions/--home-demo-projects-checkout--/2026-10-15T16-00-00-000Z_${PI}.jsonl`,
    project: "/home/demo/projects/checkout",
    opens: (path) => [["pi", "--session", path]],
  },
  {
    name: "opencode",
    id: SESSION,
    folder: ".local/share/opencode",
    file: ".local/share/opencode/opencode.db",
    project: "/tmp/pond-garden",
    opens: () => [
      ["opencode", "import", expect.stringContaining(SESSION)],
      ["opencode", "--session", SESSION],
    ],
  },
];

const FIXTURE = join(import.meta.dirname, "../fixtures/adapters/opencode/data");

async function machine(): Promise<TempContext> {
  const temp = await tempContext();
  for (const { path, content } of demoFiles()) {
    mkdirSync(dirname(join(temp.home, path)), { recursive: true });
    writeFileSync(join(temp.home, path), content);
  }
  cpSync(FIXTURE, join(temp.home, ".local/share/opencode"), { recursive: true });
  await sync(temp.context, IMPORT);
  return temp;
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted();

describe.each(CLIENTS)("a session that $name has", ({ id, folder, file, project, opens }) => {
  test("is not restored a second time under another folder, and a dry run says so", async () => {
    await using temp = await machine();
    const { context, home } = temp;
    const before = filesIn(join(home, folder));
    for (const map_paths of [[], [`${project}=${home}/one`]]) {
      const refused = restore(context, { session_id: id, map_paths });
      await expect(refused).rejects.toMatchObject({
        reason: "exists",
        message: expect.stringContaining(join(home, file)),
        hint: expect.stringContaining("into another folder with out"),
      });
      const planned = await restore(context, { session_id: id, map_paths, dry_run: true });
      expect(planned.refused).toMatchObject({
        reason: "exists",
        path: join(home, file),
        hint: expect.arrayContaining([{ field: "out" }]) as Sentence,
      });
    }
    expect(filesIn(join(home, folder))).toEqual(before);
    const { files } = await restore(context, { session_id: id, out: join(home, "out") });
    expect(files.length).toBeGreaterThan(0);
  });

  test("is opened in the directory that its project was moved to, and not copied", async () => {
    await using temp = await machine();
    const { context, home } = temp;
    const directory = join(home, "moved");
    mkdirSync(directory);
    const before = filesIn(join(home, folder));
    const map_paths = [`${project}=${directory}`];
    for (const dry_run of [true, false]) {
      const report = await restore(context, { session_id: id, map_paths, reuse: true, dry_run });
      expect(report.resume).toMatchObject({ directory, steps: opens(join(home, file)) });
      expect(report.refused).toBeUndefined();
      expect(filesIn(join(home, folder))).toEqual(before);
    }
  });

  test("is resumed as it is where its project is, and restored first where it is gone", async () => {
    await using temp = await machine();
    const { context, home } = temp;
    const resumed = (): Promise<RestoreReport> => restore(context, { session_id: id, reuse: true });
    const there = await resumed();
    expect(there.files.filter(({ kept }) => !kept)).toEqual([]);
    expect(there.resume.steps).toHaveLength(1);
    rmSync(join(home, folder), { recursive: true });
    const restored = await resumed();
    expect(restored.files.filter(({ kept }) => !kept).length).toBeGreaterThan(0);
    expect(restored.resume.steps).toHaveLength(opens("").length);
  });
});

describe.each(CLIENTS.filter(({ name }) => name !== "opencode"))(
  "a session that was restored into $name with mapped paths",
  ({ id, folder, project }) => {
    test("is not restored again with others", async () => {
      await using temp = await machine();
      const { context, home } = temp;
      rmSync(join(home, folder), { recursive: true });
      const mapped = (to: string): Promise<RestoreReport> =>
        restore(context, { session_id: id, map_paths: [`${project}=${join(home, to)}`] });
      const { files } = await mapped("one");
      const before = filesIn(join(home, folder));
      await expect(mapped("two")).rejects.toMatchObject({
        reason: "exists",
        message: expect.stringContaining(files[0]?.path ?? ""),
      });
      expect(filesIn(join(home, folder))).toEqual(before);
    });
  },
);

/** One more record, as the client would write it. */
const MORE: Readonly<Record<string, object>> = {
  "claude-code": {
    type: "user",
    uuid: "ffff0001",
    parentUuid: null,
    sessionId: CLAUDE,
    cwd: "/home/demo/projects/checkout",
    timestamp: "2026-10-16T00:00:00.000Z",
    message: { role: "user", content: "And the platypus?" },
  },
  "codex-cli": {
    timestamp: "2026-10-16T00:00:00.000Z",
    type: "event_msg",
    payload: { type: "token_count", info: null },
  },
  pi: {
    type: "message",
    id: "ffff0001",
    parentId: null,
    timestamp: "2026-10-16T00:00:00.000Z",
    message: { role: "user", content: "And the platypus?", timestamp: 1792108800000 },
  },
};

describe.each(CLIENTS.filter(({ name }) => name !== "opencode"))(
  "an earlier state of a session of $name",
  ({ name, id, folder, file }) => {
    test("is resumed where nothing is in its place, and refused beside another state", async () => {
      await using temp = await machine();
      const { context, home } = temp;
      const path = join(home, file);
      appendFileSync(path, `${JSON.stringify(MORE[name])}\n`);
      await sync(context, IMPORT);
      const asked = { session_id: id, state: 1, reuse: true };
      const planned = await restore(context, { ...asked, dry_run: true });
      expect(planned).toMatchObject({ state: { state: 1, states: [1, 2] }, refused: { path } });
      await expect(restore(context, asked)).rejects.toMatchObject(ANOTHER_STATE);
      // The newest by its number is what there is.
      expect(await restore(context, { ...asked, state: 2 })).toMatchObject({ files: [{ kept: true }] });
      rmSync(join(home, folder), { recursive: true });
      expect((await restore(context, asked)).files).toMatchObject([{ kept: false }]);
      expect((await restore(context, asked)).files).toMatchObject([{ kept: true }]);
    });
  },
);

const ANOTHER_STATE = {
  reason: "exists",
  message: expect.stringContaining("in another state than the one that is asked for") as string,
  hint: expect.stringContaining("open what is there with resume") as string,
};

test("an earlier state is refused in another client, too, that was given the newest", async () => {
  await using temp = await machine();
  const { context, home } = temp;
  appendFileSync(join(home, CLIENTS[0]?.file ?? ""), `${JSON.stringify(MORE["claude-code"])}\n`);
  await sync(context, IMPORT);
  const asked = { session_id: CLAUDE, to: "codex-cli", reuse: true };
  await restore(context, asked);
  await expect(restore(context, { ...asked, state: 1 })).rejects.toMatchObject(ANOTHER_STATE);
  expect(await restore(context, asked)).toMatchObject({ files: [{ kept: true }] });
});

test("an earlier state is not imported over what opencode has", async () => {
  await using temp = await machine();
  const { context, home } = temp;
  const path = join(home, ".local/share/opencode/opencode.db");
  {
    using database = new DatabaseSync(path);
    database.prepare("UPDATE session SET title = 'The platypus' WHERE id = ?").run(SESSION);
  }
  await sync(context, IMPORT);
  const asked = { session_id: SESSION, reuse: true, source: path, state: 1 };
  await expect(restore(context, asked)).rejects.toMatchObject({
    ...ANOTHER_STATE,
    hint: expect.stringContaining(`opencode session delete ${SESSION}`) as string,
  });
  rmSync(join(home, ".local/share/opencode"), { recursive: true });
  expect((await restore(context, asked)).resume.steps).toHaveLength(2);
});

test("a session that Codex has archived is got back by Codex, not restored beside it", async () => {
  await using temp = await machine();
  const { context, home } = temp;
  const [client] = CLIENTS.filter(({ name }) => name === "codex-cli");
  const log = join(home, client?.file ?? "");
  const archived = join(home, ".codex/archived_sessions", basename(log));
  mkdirSync(dirname(archived));
  renameSync(log, archived);
  for (const reuse of [true, false])
    await expect(restore(context, { session_id: CODEX, reuse })).rejects.toMatchObject({
      reason: "exists",
      message: expect.stringContaining(archived),
      hint: expect.stringContaining(`codex unarchive ${CODEX}`),
    });
});
