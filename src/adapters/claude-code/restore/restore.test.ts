import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { lineagesOf, readFolder } from "../../../../test/support/adapter-run.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import type { SessionState } from "../../../model/events/index.ts";
import { replay } from "../../../model/events/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import type { RestoredFile, SerializeOptions } from "../../kit/restore/index.ts";
import { claudeCode } from "../index.ts";
import { serialize } from "./restore.ts";

const FIXTURE = join(import.meta.dirname, "../../../../test/fixtures/adapters/claude-code/projects");
const HAND = "11111111-1111-4111-8111-111111111111";
const CAPTURED = "42a619cc-bb76-46e4-81e9-08563bb4c708";
const CLIENT: SerializeOptions = { fidelity: "native", layout: "client", mapPath: (path) => path, now: 0 };

let lineages: readonly Lineage[];
const lineageOf = (id: string): Lineage => lineages.find(({ state }) => state.session.id === id)!;
const paths = (files: readonly RestoredFile[]): string[] => files.map(({ path }) => path).toSorted();

beforeAll(async () => {
  const runs = await readFolder(claudeCode, FIXTURE);
  lineages = lineagesOf(replay(runs.flatMap(({ events }) => events)));
});

describe("native restore", () => {
  test("puts a whole lineage where the client looks: subagents, meta files, side files, older agents, forks", () => {
    const folder = "C--dev-demo-v2";
    expect(paths(serialize(lineageOf(HAND), CLIENT).files)).toEqual(
      [
        `${folder}/${HAND}.jsonl`,
        `${folder}/${HAND}/session-memory/summary.md`,
        `${folder}/${HAND}/subagents/agent-afork-c0ffee.jsonl`,
        `${folder}/${HAND}/subagents/agent-lost.meta.json`,
        `${folder}/${HAND}/subagents/workflows/wf_1/agent-b1c2d3e.jsonl`,
        `${folder}/${HAND}/subagents/workflows/wf_1/agent-b1c2d3e.meta.json`,
        `${folder}/${HAND}/subagents/workflows/wf_1/journal.jsonl`,
        `${folder}/${HAND}/tool-results/mcp-demo-list-1.txt`,
        `${folder}/22222222-2222-4222-8222-222222222222.jsonl`,
        `${folder}/agent-1a2b3c4.jsonl`,
      ].toSorted(),
    );
  });

  test("puts a subagent by itself below the session it belongs to, which is the one to resume", () => {
    const child = lineageOf(HAND).children.find(({ state }) => state.session.id.includes("wf_1"))!;
    const restored = serialize(child, CLIENT);
    const [log] = paths(restored.files);
    expect(log).toMatch(new RegExp(`^[^/]+/${HAND}/subagents/workflows/wf_1/agent-b1c2d3e.jsonl$`));
    expect(restored.resume.words).toEqual(["claude", "--resume", HAND]);
    expect(restored.losses).toEqual([
      {
        what: "session that it belongs to",
        affects: "record",
        why: `Claude Code opens a subagent only from there: ${HAND}`,
        count: 1,
      },
    ]);
  });

  test("follows a mapped directory: folder, every record, subagents too", () => {
    const mapPath = (path: string): string => path.replace("/tmp/pond_fixture", "/home/me");
    const restored = serialize(lineageOf(CAPTURED), { ...CLIENT, mapPath });
    const folder = "-home-me-demo-app";
    expect(restored.resume).toEqual({
      id: CAPTURED,
      directory: "/home/me/demo.app",
      words: ["claude", "--resume", CAPTURED],
      byPath: ["claude", "--resume"],
    });
    expect(paths(restored.files)).toEqual([
      `${folder}/${CAPTURED}.jsonl`,
      `${folder}/${CAPTURED}/subagents/agent-afbdf13c1efd361ed.jsonl`,
      `${folder}/${CAPTURED}/subagents/agent-afbdf13c1efd361ed.meta.json`,
    ]);
    const directories = recordsIn(restored.files).flatMap((record) => record["cwd"] ?? []);
    expect(new Set(directories)).toEqual(new Set(["/home/me/demo.app"]));
  });

  test("gives a copy that an older pond stored the client's own id back", () => {
    const { state } = lineageOf(HAND);
    const options = { source: { path: `copies/${HAND}.jsonl`, session_id: HAND } };
    const session = { ...state.session, id: `${HAND}@0123abcd` as typeof state.session.id, options };
    const messages = state.messages.filter(({ message }) => !message.id.startsWith("file:"));
    const restored = serialize({ state: { session, messages }, children: [] }, CLIENT);
    expect(restored.resume.id).toBe(HAND);
    expect(paths(restored.files)).toEqual([`C--dev-demo-v2/${HAND}.jsonl`]);
  });

  test("refuses what did not come from a file of Claude Code, and says what to do", () => {
    const { state } = lineageOf(CAPTURED);
    const made: SessionState = { ...state, session: { ...state.session, options: {} } };
    expect(() => serialize({ state: made, children: [] }, CLIENT)).toThrow(
      expect.objectContaining({ code: "validation_failed", hint: "restore it into another client" }),
    );
  });

  test("takes the newest revision of a side file", () => {
    const lineage = lineageOf(HAND);
    const { state } = lineage;
    const index = state.messages.findIndex(({ message }) =>
      message.id.startsWith(`file:${HAND}/tool-results/`),
    );
    const entry = state.messages[index]!;
    const [part] = entry.parts;
    const older = {
      message: {
        ...entry.message,
        id: `${entry.message.id}0` as typeof entry.message.id,
        timestamp: 0 as never,
      },
      parts: [{ ...part, data: { kind: "bytes", value: Buffer.from("older") } }] as never,
    };
    for (const messages of [
      [older, ...state.messages],
      [...state.messages, older],
    ]) {
      const { files } = serialize({ state: { ...state, messages }, children: [] }, CLIENT);
      const file = files.find(({ path }) => path.endsWith("mcp-demo-list-1.txt"));
      expect(file?.kind === "bytes" && Buffer.from(file.data).toString()).toBe("spilled output\n\u00e9\n");
    }
  });
});

function recordsIn(files: readonly RestoredFile[]): JsonObject[] {
  return files.flatMap((file) => (file.kind === "jsonl" ? (file.records as JsonObject[]) : []));
}
