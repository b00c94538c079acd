/**
 * A copy that pond restored is found again (spec.md#adapter-restore-resume): resumed where it works, whatever paths it was
 * given and however far it went on; never hidden by an older one; and what a dry run answers is what the real run does.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { isPondError, PondError } from "../../src/base/errors.ts";
import type { Context, RestoreHooks } from "../../src/handlers/index.ts";
import { restore, sync } from "../../src/handlers/index.ts";
import {
  carryOn,
  carryOnOpencode,
  CODEX_ORIGIN,
  importIntoOpencode,
  ORIGIN,
  startOpencodeDatabase,
  writeCodexOrigin,
  writeOrigin,
} from "../support/restored-story.ts";
import { tempContext } from "../support/temp-context.ts";
import { worded, wordedError } from "../../src/cli/terminal/next-step.ts";
import type { RestoreReport, RestoreRequest } from "../../src/wire/restore.ts";

/** A machine with a session of another client, and what happens there. */
class Story implements AsyncDisposable {
  readonly #temp: Awaited<ReturnType<typeof tempContext>>;
  readonly client: string;
  readonly origin: string;
  readonly #log: string;
  readonly #dispose: () => Promise<void>;

  static async begin(client: string): Promise<Story> {
    const temp = await tempContext();
    const isClaude = client === "claude-code";
    const log = isClaude ? writeCodexOrigin(temp.home) : writeOrigin(temp.home);
    if (client === "opencode") startOpencodeDatabase(temp.home);
    for (const name of ["one", "two"]) mkdirSync(join(temp.home, name));
    await sync(temp.context, {});
    return new Story(temp, { client, log, origin: isClaude ? CODEX_ORIGIN : ORIGIN });
  }

  private constructor(
    temp: Awaited<ReturnType<typeof tempContext>>,
    { client, log, origin }: { readonly client: string; readonly log: string; readonly origin: string },
  ) {
    this.#temp = temp;
    this.#dispose = async () => temp[Symbol.asyncDispose]();
    [this.client, this.#log, this.origin] = [client, log, origin];
  }

  get context(): Context {
    return this.#temp.context;
  }

  get home(): string {
    return this.#temp.home;
  }

  folder(name: string): string {
    return join(this.home, name);
  }

  mapped(name: string): readonly string[] {
    return [`/srv/app=${this.folder(name)}`];
  }

  /** Also given to the client where it imports by a command. */
  async restore(request: Partial<RestoreRequest> = {}): Promise<RestoreReport> {
    const report = await this.tryTo(request);
    if (this.client === "opencode") importIntoOpencode(this.home, this.logOf(report));
    return report;
  }

  tryTo({ whyNot, ...request }: Partial<RestoreRequest> & RestoreHooks): Promise<RestoreReport> {
    const hooks = whyNot === undefined ? {} : { whyNot };
    return restore(this.context, { session_id: this.origin, to: this.client, ...request }, hooks);
  }

  resume(request: Partial<RestoreRequest> = {}): Promise<RestoreReport> {
    return this.tryTo({ reuse: true, ...request });
  }

  logOf({ files, resume }: RestoreReport): string {
    return files.find(({ path }) => path.includes(resume.id) && /\.jsonl?$/.test(path))?.path ?? "";
  }

  async carryOnCopy(report: RestoreReport, text = "And the platypus?"): Promise<void> {
    if (this.client === "opencode") carryOnOpencode(this.home, report.resume.id, text);
    else carryOn(this.client, this.logOf(report), text);
    await sync(this.context, {});
  }

  /** One turn of Claude Code, two of Codex. */
  async carryOnOrigin(): Promise<void> {
    carryOn(this.client === "claude-code" ? "codex-cli" : "claude-code", this.#log, "And the lemur?");
    await sync(this.context, {});
  }

  loseClient(): void {
    const folder = { "claude-code": ".claude", "codex-cli": ".codex", pi: ".pi" }[this.client];
    if (folder === undefined) startOpencodeDatabase(this.home);
    else rmSync(join(this.home, folder), { recursive: true });
  }

  /** All but pond's own, and not what a database does when it is read. */
  files(): readonly string[] {
    return readdirSync(this.home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.db/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => !path.includes("/store/") && !path.includes("/state/"))
      .toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispose();
  }
}

const refusalOf = async (trying: Promise<unknown>): Promise<PondError> => {
  const error: unknown = await trying.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isPondError(error)) throw new Error("it was not refused", { cause: error });
  return wordedError(error);
};

const CLIENTS = ["claude-code", "codex-cli", "pi", "opencode"];

describe.each(CLIENTS)("a copy in %s", (client) => {
  test("is opened in the folder that it was mapped to, touched or not, and no second one is made", async () => {
    await using story = await Story.begin(client);
    const first = await story.restore({ map_paths: story.mapped("one") });
    const opens = async (request: Partial<RestoreRequest>): Promise<void> => {
      const before = story.files();
      const { resume, files } = await story.resume(request);
      expect(resume).toMatchObject({ id: first.resume.id, directory: story.folder("one") });
      expect(resume.steps).toHaveLength(1);
      expect(files.filter(({ kept }) => !kept)).toEqual([]);
      expect(story.files()).toEqual(before);
    };
    await opens({});
    await opens({ map_paths: story.mapped("one") });
    await opens({ session_id: first.resume.id });
    const other = await refusalOf(story.resume({ map_paths: story.mapped("two") }));
    expect(other).toMatchObject({ reason: "exists", data: { session: first.resume.id } });
    expect(other.message).toContain(`in ${story.folder("one")}, not in ${story.folder("two")}`);
    expect(other.hint).toContain(`pond restore ${story.origin} --to ${client} --out <another folder>`);
    // Neither of them went on, and nothing says so.
    const again = await refusalOf(story.tryTo({ map_paths: story.mapped("two") }));
    expect(again.message).toMatch(/was restored into .* before, as /);
    expect(again.message).not.toMatch(/went on|more since|carried on/);
    await story.carryOnCopy(first);
    await opens({});
    const carried = await refusalOf(story.tryTo({}));
    expect(carried.message).toMatch(/and continued there \([12] turns?\)/);
  });

  test("is opened where its folder was moved to", async () => {
    await using story = await Story.begin(client);
    const first = await story.restore({ map_paths: story.mapped("one") });
    rmSync(story.folder("one"), { recursive: true });
    expect((await story.resume()).resume).toMatchObject({
      directory: story.folder("one"),
      is_directory_missing: true,
    });
    const { resume } = await story.resume({ map_paths: story.mapped("two") });
    expect(resume).toMatchObject({ id: first.resume.id, directory: story.folder("two") });
    expect(resume.is_directory_missing).toBeUndefined();
    // By its own id it is restored again once it is gone.
    story.loseClient();
    const again = await restore(story.context, {
      session_id: first.resume.id,
      reuse: true,
      map_paths: story.mapped("two"),
    });
    expect([again.session_id, again.to, again.resume.id]).toEqual([story.origin, client, first.resume.id]);
  });

  test("that lacks what came since is told by how much, with ways on that lose nothing", async () => {
    await using story = await Story.begin(client);
    const first = await story.restore({ map_paths: story.mapped("one") });
    const { id } = first.resume;
    await story.carryOnOrigin();
    const more = client === "claude-code" ? "2 turns more" : "1 turn more";
    for (const reuse of [true, false]) {
      const stale = await refusalOf(story.tryTo({ reuse }));
      expect(stale.message).toContain(`has ${more} since`);
      expect(stale.hint).toContain(`pond resume ${id};`);
      expect(stale.hint).toContain("which has not changed since");
    }
    await story.carryOnCopy(first);
    for (const reuse of [true, false]) {
      const both = await refusalOf(story.tryTo({ reuse }));
      expect(both.message).toContain(`both have continued: the session has ${more} than what was restored`);
      expect(both.message).toMatch(/the copy has gained [12] turns?$/);
      expect(both.hint).not.toMatch(/delete|move/);
      expect(both.hint).toContain(`pond restore ${story.origin} --to ${client} --out <another folder>`);
    }
    // What is advised does what it says.
    const { to: _, ...own } = { session_id: id, to: client };
    const { resume } = await restore(story.context, { ...own, reuse: true });
    expect(resume).toMatchObject({ id, directory: story.folder("one") });
    const beside = await story.tryTo({ out: story.folder("beside") });
    expect(beside.files.some(({ kept }) => !kept)).toBe(true);
  });

  test("that was carried on is not replaced by an older one where it is gone", async () => {
    await using story = await Story.begin(client);
    const first = await story.restore({ map_paths: story.mapped("one") });
    const { id } = first.resume;
    await story.carryOnCopy(first);
    story.loseClient();
    const before = story.files();
    for (const reuse of [true, false]) {
      const refused = await refusalOf(story.tryTo({ reuse }));
      expect(refused).toMatchObject({ reason: "exists", data: { session: id } });
      expect(refused.hint).toContain(`pond resume ${id};`);
      const { refused: planned } = await story.tryTo({ reuse, dry_run: true });
      expect(planned).toMatchObject({ reason: "exists", message: refused.message });
    }
    expect(story.files()).toEqual(before);
    const insisted = await story.tryTo({ out: story.folder("beside") });
    expect(insisted.files.some(({ kept }) => !kept)).toBe(true);
    const back = await restore(story.context, { session_id: id, reuse: true });
    expect(back).toMatchObject({ fidelity: "native", resume: { id, directory: story.folder("one") } });
  });
});

/** What stands in the way, and of whom it is asked. */
type Obstacle = readonly [
  string,
  (story: Story) => Promise<Partial<RestoreRequest>> | Partial<RestoreRequest>,
];

const REFUSED: readonly Obstacle[] = [
  [
    "a file of another content",
    async (story) => {
      const { files } = await story.tryTo({ dry_run: true, out: story.folder("other") });
      const path = files[0]?.path ?? "";
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, "other");
      return { out: story.folder("other") };
    },
  ],
  [
    "all of its files",
    async (story) => {
      await story.tryTo({ out: story.folder("out") });
      return { out: story.folder("out") };
    },
  ],
  [
    "a linked folder",
    (story) => {
      mkdirSync(story.folder("linked"));
      symlinkSync(story.folder("one"), story.folder("linked/sessions"));
      return { out: story.folder("linked") };
    },
  ],
  [
    "a file that is given as the folder",
    (story) => {
      writeFileSync(story.folder("file"), "");
      return { out: story.folder("file") };
    },
  ],
  [
    "a file above the folder",
    (story) => {
      writeFileSync(story.folder("file"), "");
      return { out: story.folder("file/below") };
    },
  ],
  ["a folder to map to that is not there", (story) => ({ reuse: true, map_paths: story.mapped("nowhere") })],
  [
    "a link to a disk that is not mounted, in the place of the client's folder",
    (story) => {
      symlinkSync(story.folder("not-mounted"), story.folder("unmounted"));
      return { out: join(story.folder("unmounted"), "agent/sessions") };
    },
  ],
  ...(process.platform === "linux"
    ? ["/proc/nowhere", "/proc/self/nowhere/at/all", "/sys/nowhere"].map((out): Obstacle => [
        `${out}, which cannot be made`,
        () => ({ out }),
      ])
    : []),
  [
    "a client that cannot be started",
    () => ({ reuse: true, whyNot: () => new PondError("not_found", "the command codex is not on PATH") }),
  ],
  [
    "a copy in the client",
    async (story) => {
      await story.restore();
      return {};
    },
  ],
];

test("a dry run is refused as the real run is, whatever stands in the way", async () => {
  await using story = await Story.begin("codex-cli");
  expect((await story.tryTo({ dry_run: true })).refused).toBeUndefined();
  for (const [what, prepare] of REFUSED) {
    const request = await prepare(story);
    const before = story.files();
    const { refused } = await story.tryTo({ ...request, dry_run: true });
    const error = await refusalOf(story.tryTo(request));
    expect([what, refused?.reason, worded(refused?.message ?? "")]).toEqual([
      what,
      error.reason ?? error.code,
      error.message,
    ]);
    expect(error.hint ?? "").toContain(worded(refused?.hint ?? "absent"));
    expect(story.files()).toEqual(before);
  }
});

test("what opencode has not imported yet is resumed where it was mapped to, as a second restore says", async () => {
  await using story = await Story.begin("opencode");
  const first = await story.tryTo({ map_paths: story.mapped("one") });
  const again = await refusalOf(story.tryTo({ map_paths: story.mapped("one") }));
  expect(again.hint).toContain(`open it with pond resume ${story.origin} --in opencode;`);
  const { id } = first.resume;
  const inOne = { id, directory: story.folder("one"), recorded_directory: "/srv/app" };
  for (const dry_run of [true, false]) {
    const { resume } = await story.resume({ dry_run });
    expect(resume).toMatchObject(inOne);
    expect(resume).not.toHaveProperty("is_directory_missing");
    expect(resume.steps.at(-1)).toEqual(["opencode", "--session", id]);
    expect(resume.steps.length).toBeGreaterThan(1);
  }
  // Another folder that is asked for is taken: nothing is in the client.
  expect((await story.resume({ map_paths: story.mapped("two"), dry_run: true })).resume.directory).toBe(
    story.folder("two"),
  );
});

describe("a session of the client itself that was restored with mapped paths", () => {
  test.each(["claude-code", "codex-cli", "pi"])("is opened there in %s", async (client) => {
    await using story = await Story.begin(client === "claude-code" ? "pi" : "claude-code");
    const { home } = story;
    let id = story.origin;
    if (client === "pi") {
      // A session of pi's own: what it carried on of another.
      const pi = await restore(story.context, { session_id: id, to: "pi" });
      carryOn("pi", pi.files[0]?.path ?? "", "And the platypus?");
      await sync(story.context, {});
      id = pi.resume.id;
    }
    for (const folder of [".claude", ".codex", ".pi"])
      rmSync(join(home, folder), { recursive: true, force: true });
    const first = await restore(story.context, { session_id: id, map_paths: story.mapped("one") });
    const again = (request: Partial<RestoreRequest> = {}): Promise<RestoreReport> =>
      restore(story.context, { session_id: id, reuse: true, ...request });
    expect((await again()).resume).toMatchObject({ id, directory: story.folder("one") });
    const other = await refusalOf(again({ map_paths: story.mapped("two") }));
    expect(other.message).toContain(`in ${story.folder("one")}, not in ${story.folder("two")}`);
    carryOn(client, story.logOf(first), "And the lemur?");
    expect((await again()).resume).toMatchObject({ id, directory: story.folder("one") });
    await sync(story.context, {});
    expect((await again()).resume).toMatchObject({ id, directory: story.folder("one") });
  });
});

test("of two ends of a session the one that the client has is opened by its source, and advice leads there", async () => {
  await using story = await Story.begin("pi");
  const { context, home } = story;
  const first = readFileSync(join(home, ".claude/projects/-srv-app", `${ORIGIN}.jsonl`), "utf8");
  rmSync(join(home, ".claude"), { recursive: true });
  const own = { session_id: ORIGIN, reuse: true };
  const copy = story.logOf(await restore(context, { ...own, map_paths: story.mapped("one") }));
  carryOn("claude-code", copy, "And the platypus?");
  // The session itself went on, too, elsewhere and later.
  const backup = join(home, "laptop/-srv-app", `${ORIGIN}.jsonl`);
  mkdirSync(dirname(backup), { recursive: true });
  writeFileSync(backup, first);
  for (const text of ["And the lemur?", "And the lemurs, too?"]) carryOn("claude-code", backup, text);
  await sync(context, { paths: [join(home, "laptop")], adapters: ["claude-code"] });
  const unsynced = await refusalOf(restore(context, own));
  expect(unsynced.message).toContain("2 turns of it are not there, 1 turn there is not in it");
  expect(unsynced.hint).toContain("run pond sync");
  await sync(context, {});
  const { hint = "" } = await refusalOf(restore(context, own));
  expect(hint).toContain(`pond resume ${ORIGIN} --source ${copy} opens it as it is`);
  const { resume, files } = await restore(context, { ...own, source: copy });
  expect(files.filter(({ kept }) => !kept)).toEqual([]);
  expect(resume).toMatchObject({ directory: story.folder("one"), steps: [["claude", "--resume", ORIGIN]] });
});
