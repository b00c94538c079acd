/** The serialize face: what a restored rollout says, in the client's own terms. */
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { foreignSession } from "../../../../test/clients/foreign-session.ts";
import { lineagesOf, readFolder } from "../../../../test/support/adapter-run.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import { stringifyJson } from "../../../base/json/json.ts";
import { replay } from "../../../model/events/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import type { Restored, SerializeOptions } from "../../kit/restore/index.ts";
import { isRawLine } from "../../kit/files/index.ts";
import { codexCli } from "../index.ts";
import { serialize } from "./restore.ts";

const HOME = join(import.meta.dirname, "../../../../test/fixtures/adapters/codex-cli/home");
const OPTIONS: SerializeOptions = { fidelity: "native", layout: "client", mapPath: (path) => path, now: 0 };
const THREAD = "01a1e1d6-bf5e-7902-8eb6-c6db4b0f3477";

let lineages: readonly Lineage[] = [];
beforeAll(async () => {
  lineages = lineagesOf(replay((await readFolder(codexCli, HOME)).flatMap(({ events }) => events)));
});

const lineage = (id: string): Lineage => lineages.find(({ state }) => state.session.id === id)!;
const recordsOf = (restored: Restored, part: string): readonly JsonObject[] => {
  const file = restored.files.find(({ path }) => path.includes(part));
  if (file?.kind !== "jsonl") throw new Error(`no log ${part}`);
  return file.records.flatMap((record) => (isRawLine(record) ? [] : [record as JsonObject]));
};
const payloads = (records: readonly JsonObject[]) => records.map((record) => record["payload"] as JsonObject);

describe("native restore", () => {
  test("puts a lineage where the client looks, the parent first", () => {
    const restored = serialize(lineage(THREAD), OPTIONS);
    expect(restored.resume).toMatchObject({ id: THREAD, words: ["codex", "resume", THREAD] });
    const paths = restored.files.map(({ path }) => path);
    expect(paths).toHaveLength(4);
    expect(paths.every((path) => path.startsWith("sessions/2026/11/16/rollout-2026-11-16T00-51-"))).toBe(
      true,
    );
    expect(paths[0]).toContain(`${THREAD}.jsonl`);
  });

  test("files from elsewhere go to the folder of their day under a name that the client knows", () => {
    const stray = lineages.find(({ state }) => state.session.id === "named-otherwise")!;
    const moved = { ...stray.state.session, options: { source: { path: "notes/a.jsonl" } } };
    const restored = serialize({ ...stray, state: { ...stray.state, session: moved } }, OPTIONS);
    expect(restored.files[0]?.path).toBe(
      "sessions/2026/02/03/rollout-2026-02-03T04-05-06-named-otherwise.jsonl",
    );
    expect(restored.resume.id).toBe("named-otherwise");
  });

  test("mapped directories change, and where a fork's prefix ends follows the bytes that are written", () => {
    const mapPath = (path: string): string => path.replace("/tmp/pond-fixture", "/a/much/longer/folder");
    const restored = serialize(lineage(THREAD), { ...OPTIONS, mapPath });
    const parent = recordsOf(restored, `49-${THREAD}.jsonl`);
    expect(payloads(parent)[0]).toMatchObject({ cwd: "/a/much/longer/folder/demo" });
    for (const part of ["c4b3-7232", "_01a1e1d6-cf99"]) {
      const [meta] = payloads(recordsOf(restored, part));
      const base = meta?.["history_base"] as { end_ordinal_exclusive: number; end_byte_offset: number };
      const prefix = parent.filter((record) => Number(record["ordinal"]) < base.end_ordinal_exclusive);
      const bytes = prefix.reduce((sum, record) => sum + Buffer.byteLength(stringifyJson(record)) + 1, 0);
      expect([part, base.end_byte_offset]).toEqual([part, bytes]);
    }
  });

  test("a fork without its parent says what it lacks", () => {
    const fork = lineage(THREAD).children.find(({ state }) => state.session.id.includes("c4b3"))!;
    expect(serialize(fork, OPTIONS).losses).toMatchObject([{ what: "history before the fork", count: 1 }]);
    expect(serialize(fork, { ...OPTIONS, layout: "source" }).losses).toEqual([]);
  });

  test("a session of another client in the lineage is refused, so that nothing is restored by half", () => {
    const { state } = lineage(THREAD);
    const alien = { ...state, session: { ...state.session, source_agent: "claude-code" } };
    const mixed = { state, children: [{ state: alien, children: [] }] };
    expect(() => serialize(mixed, OPTIONS)).toThrow(/is of claude-code/);
  });
});

describe("foreign restore", () => {
  const foreign: SerializeOptions = { ...OPTIONS, fidelity: "foreign" };
  const other = (): Lineage => ({ state: foreignSession("/w/app"), children: [] });

  test("gives the same rollout each time, under a UUID, in the folder of its day", () => {
    const restored = serialize(other(), foreign);
    expect(serialize(other(), foreign)).toEqual(restored);
    const { id } = restored.resume;
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(restored.files[0]?.path).toBe(`sessions/2026/05/01/rollout-2026-05-01T10-00-00-${id}.jsonl`);
    expect(restored.resume).toMatchObject({ directory: "/w/app", words: ["codex", "resume", id] });
  });

  test("says what people and the agent said twice, as the screen and the model need it", () => {
    const [meta, ...records] = recordsOf(serialize(other(), foreign), "rollout");
    expect(meta).toMatchObject({ type: "session_meta", payload: { cwd: "/w/app", history_mode: "legacy" } });
    const kinds = records.map((record, index) => {
      const payload = payloads(records)[index];
      return [
        record["type"],
        payload?.["type"],
        payload?.["role"] ?? payload?.["name"] ?? payload?.["call_id"],
      ];
    });
    expect(kinds).toEqual([
      ["response_item", "message", "user"],
      ["event_msg", "user_message", undefined],
      ["event_msg", "agent_reasoning", undefined],
      ["event_msg", "agent_message", undefined],
      ["response_item", "message", "assistant"],
      ["response_item", "function_call", "shell"],
      ["response_item", "function_call", "apply_patch"],
      ["response_item", "function_call_output", "fc:2"],
      ["response_item", "function_call_output", "call_1"],
      ["event_msg", "agent_message", undefined],
      ["response_item", "message", "assistant"],
      ["response_item", "message", "user"],
      ["event_msg", "user_message", undefined],
      ["response_item", "function_call", "shell"],
    ]);
  });

  test("reports what stays behind", () => {
    const { losses } = serialize(other(), foreign);
    expect(losses.map(({ what, count }) => [what, count])).toEqual([
      ["note from its client", 1],
      ["reasoning", 1],
      ["failure of a tool", 1],
      ["bookkeeping record", 1],
      ["title", 1],
    ]);
  });

  test("a subagent is a thread of its own that names its parent", () => {
    const { state } = other();
    const session = {
      ...state.session,
      id: "child" as typeof state.session.id,
      source_agent: "elsewhere/explorer",
    };
    const restored = serialize(
      { state, children: [{ state: { ...state, session }, children: [] }] },
      foreign,
    );
    const [parent, child] = restored.files.map((file) => payloads(recordsOf(restored, file.path))[0]);
    expect(child).toMatchObject({
      parent_thread_id: parent?.["id"],
      thread_source: "subagent",
      source: { subagent: { thread_spawn: { parent_thread_id: parent?.["id"], agent_role: "explorer" } } },
    });
  });

  test("a fork that goes on from a point of its parent starts with the turns up to there", () => {
    const restored = serialize(lineage(THREAD), foreign);
    const shown = restored.files.map((file) =>
      payloads(recordsOf(restored, file.path)).flatMap((payload) =>
        payload["type"] === "user_message" ? [payload["message"]] : [],
      ),
    );
    const first = "Please list the files in this folder.";
    const forked = shown.find((messages) => messages.includes("In the fork, say so."));
    expect(forked?.[0]).toBe(first);
    const reverted = shown.find((messages) => messages.includes("Go on after the revert."));
    expect(reverted).toEqual([first, "And what does the README say?\n", "Go on after the revert."]);
  });
});
