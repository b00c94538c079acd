/**
 * What the README promises, in the real clients: a new session is synced, the client's whole folder is deleted, and after a
 * restore the client continues it as if nothing had happened; also where the recorded directory does not exist any more.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import type { Context } from "../../src/handlers/index.ts";
import { createContext, listSessions, restore, sync } from "../../src/handlers/index.ts";
import { tempDir } from "../support/temp-dir.ts";
import { compareRequests } from "./compare-requests.ts";
import { runOffline } from "./offline.ts";
import type { RealClient } from "./real-clients.ts";
import { claudeCode, codexCli, isMissing, opencode, pi, PROMPT } from "./real-clients.ts";
import type { Sent } from "./requests.ts";
import { sentBy } from "./requests.ts";
import type { RestoreReport } from "../../src/wire/restore.ts";

interface NewSession {
  readonly client: RealClient;
  /** All that the client has in a home. */
  readonly folders: readonly string[];
  readonly start: (path: string) => readonly string[];
  readonly tool: { readonly name: string; readonly input: object };
}

const ASKED = "Plant roses, please";
const NEW_SESSIONS: readonly NewSession[] = [
  {
    client: claudeCode,
    folders: [".claude", ".claude.json"],
    start: (path) => [path, "-p", ASKED, "--allowedTools", "Bash"],
    tool: { name: "Bash", input: { command: "echo planted", description: "Plants" } },
  },
  {
    client: codexCli,
    folders: [".codex"],
    start: (path) => [path, "exec", "--skip-git-repo-check", ASKED],
    tool: { name: "exec_command", input: { cmd: "echo planted" } },
  },
  {
    client: opencode,
    folders: [".local/share/opencode", ".local/state/opencode", ".cache/opencode", ".config/opencode"],
    start: (path) => [path, "run", "--model", "anthropic/scripted", ASKED],
    tool: { name: "bash", input: { command: "echo planted", description: "Plants" } },
  },
  {
    client: pi,
    folders: [".pi"],
    start: (path) => [path, "-p", "--provider", "scripted", "--model", "scripted-model", ASKED],
    tool: { name: "bash", input: { command: "echo planted" } },
  },
];

describe.each(NEW_SESSIONS)("a new session of $client.adapter", ({ client, folders, start, tool }) => {
  test.skipIf(isMissing(client)).each([
    ["in its directory", false],
    ["in another directory, because the recorded one does not exist", true],
  ])("is restored after its client's folder is gone, and continued %s", async (_, isMoved) => {
    await using box = await tempDir();
    const machine = new Machine(box.path, client);
    const recorded = join(box.path, "garden");
    machine.run(start(machine.executable), recorded, [
      { when: ASKED, thinking: "Roses it is.", text: "I plant them.", tools: [tool] },
      { text: "Roses are planted." },
    ]);
    const id = await machine.pond(async (context) => {
      await sync(context, {});
      const { sessions } = await listSessions(context, {});
      expect(sessions).toHaveLength(1);
      return sessions[0]!.id;
    });
    const before = machine.continue(id, recorded);
    for (const folder of folders) rmSync(join(box.path, "home", folder), { recursive: true, force: true });
    const directory = isMoved ? join(box.path, "elsewhere/garden") : recorded;
    if (isMoved) {
      mkdirSync(dirname(directory), { recursive: true });
      renameSync(recorded, directory);
      const unmapped = await machine.pond((context) =>
        restore(context, { session_id: id, out: join(box.path, "unmapped") }),
      );
      expect(unmapped.resume.is_directory_missing).toBe(true);
    }
    const map_paths = isMoved ? [`${recorded}=${directory}`] : [];
    const report = await machine.pond((context) => restore(context, { session_id: id, map_paths }));
    expect([report.fidelity, report.losses, report.resume.directory]).toEqual(["native", [], directory]);
    expect(report.resume.is_directory_missing).toBeUndefined();
    const after = machine.continue(report.resume.id, directory, report);
    expect(after.some((sent) => sent.kind === "result" && sent.text.includes("planted"))).toBe(true);
    const { missing, added, failures, misplaced } = compareRequests(before, after);
    expect({ missing, added, failures, misplaced }).toEqual({
      missing: [],
      added: [],
      failures: [],
      misplaced: [],
    });
  });

  // pi asks its user whether to continue where it was started, which takes a terminal.
  test.skipIf(isMissing(client) || client === pi)(
    "whose project was moved is continued there from the log that the client has, without a second one",
    async () => {
      await using box = await tempDir();
      const machine = new Machine(box.path, client);
      const recorded = join(box.path, "garden");
      machine.run(start(machine.executable), recorded, [
        { when: ASKED, thinking: "Roses it is.", text: "I plant them.", tools: [tool] },
        { text: "Roses are planted." },
      ]);
      const id = await machine.pond(async (context) => {
        await sync(context, {});
        return (await listSessions(context, {})).sessions[0]?.id ?? "";
      });
      const before = machine.continue(id, recorded);
      await machine.pond((context) => sync(context, {}));
      const directory = join(box.path, "elsewhere/garden");
      mkdirSync(dirname(directory), { recursive: true });
      renameSync(recorded, directory);
      const map_paths = [`${recorded}=${directory}`];
      const report = await machine.pond((context) =>
        restore(context, { session_id: id, map_paths, reuse: true }),
      );
      expect(report.resume).toMatchObject({ directory });
      // The id, or the log that is opened instead.
      const opened = report.resume.steps.at(-1)?.at(-1) ?? "";
      const after = machine.continue(opened, directory, report);
      expect(compareRequests(before, after)).toMatchObject({ missing: [], failures: [] });
      const listed = await machine.pond(async (context) => {
        await sync(context, {});
        return (await listSessions(context, {})).sessions;
      });
      expect(listed.map((session) => [session.id, session.ends])).toEqual([[id, undefined]]);
    },
  );
});

/** A home with one client and pond. */
class Machine {
  readonly #folder: string;
  readonly #client: RealClient;
  readonly executable: string;

  constructor(folder: string, client: RealClient) {
    this.#folder = folder;
    this.#client = client;
    this.executable = "path" in client.executable ? client.executable.path : "";
  }

  run(command: readonly string[], cwd: string, rules: Parameters<typeof runOffline>[1]["rules"]) {
    const { settings } = this.#client;
    const path = settings && join(this.#folder, settings.path);
    if (path !== undefined && !existsSync(path)) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, settings?.text() ?? "");
    }
    const run = runOffline(command, { folder: this.#folder, cwd, rules });
    assert.equal(run.status, 0, `${run.stderr}\n${run.stdout}`);
    return run;
  }

  /** What the client sends to the model when it continues; what was restored is imported first where it has to be. */
  continue(id: string, directory: string, report?: RestoreReport): readonly Sent[] {
    const files = (report?.files ?? []).map(({ path }) => path);
    const imports = this.#client === opencode ? { imports: { words: ["opencode", "import"], files } } : {};
    const restored = { resume: { id, directory, words: [], ...imports } };
    const command = this.#client.command(this.executable, restored, id);
    return sentBy(this.run(command, directory, [{ text: "Going on." }]), PROMPT);
  }

  async pond<T>(ask: (context: Context) => Promise<T>): Promise<T> {
    const home = join(this.#folder, "home");
    const machine = { env: {}, home, platform: "linux" as const, cwd: home };
    const config = await loadConfig({ environment: machine });
    const { signal } = new AbortController();
    await using context = createContext({ config, machine, signal });
    return await ask(context);
  }
}
