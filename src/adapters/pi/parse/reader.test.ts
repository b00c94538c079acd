import { appendFileSync, copyFileSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import {
  compareAll,
  listUnits,
  LATER,
  NOWHERE,
  readFolder,
  readUnit,
  restoreNative,
} from "../../../../test/support/adapter-run.ts";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import { activeBranch, recordedTitle } from "../../../model/derived/index.ts";
import { replay } from "../../../model/events/index.ts";
import { placesThatExist } from "../../kit/sources/index.ts";
import { pi } from "../index.ts";

const FIXTURE = join(import.meta.dirname, "../../../../test/fixtures/adapters/pi/sessions");
const SMALL = "0193a000-0000-7000-8000-000000000001";
const HOSTILE = "0193a000-0000-7000-8000-000000000002";
const OLD_ID = "0193a000-0000-7000-8000-000000000003";
const OLD = `${OLD_ID}@v1`;
const LANES = "0193a000-0000-7000-8000-000000000006";
const TRANSACTIONS = "0193a000-0000-7000-8000-000000000007";
const CAPTURED = "01a1e1d0-8d21-70bd-9619-b545abc296ea";
const FORK = "01a1e1d0-dabf-73bc-814d-9a3fd99d5a2e";

let states: ReadonlyMap<string, SessionState>;
const stateOf = (id: string): SessionState => states.get(id)!;
const pondOf = ({ message }: MessageWithParts): JsonObject => (message.options["pond"] ?? {}) as JsonObject;
const messageOf = (session: string, id: string): MessageWithParts =>
  stateOf(session).messages.find(({ message }) => message.id === id)!;

/** Role, then each part as `provenance or kind type text`. */
function told({ message, parts }: MessageWithParts): string {
  const words = parts.map((part) => {
    const injected = (part.options["pond"] as JsonObject | undefined)?.["injected"];
    const kind = typeof injected === "string" ? injected : part.provenance;
    return `${kind} ${part.type}${"text" in part ? ` ${part.text}` : ""}`;
  });
  return [message.role, ...words].join("; ");
}

beforeAll(async () => {
  const runs = await readFolder(pi, FIXTURE);
  states = new Map(
    replay(runs.flatMap(({ events }) => events)).map((state) => [state.session.id as string, state]),
  );
});

describe("records", () => {
  test("a turn, a call and its result", () => {
    expect(told(messageOf(CAPTURED, "7e54d090"))).toBe(
      "user; conversational text What grows in my garden?; conversational file",
    );
    expect(told(messageOf(CAPTURED, "41828f3e"))).toBe(
      "assistant; conversational reasoning Look at the beds first.; " +
        "conversational text I will look at the beds.; conversational tool_call; conversational tool_call",
    );
    expect(messageOf(CAPTURED, "f0270684").parts).toMatchObject([
      {
        type: "tool_result",
        call_id: "toolu_000002",
        name: "read",
        is_failure: true,
        provenance: "injected",
      },
    ]);
  });

  test.each([
    ["1197aa98", "user; shell text wc -l beds.txt; shell text 2 beds.txt\n"],
    ["c38f983e", "user; extension text Rain is expected tonight."],
    ["23c3ca33", "system"],
    ["bb9895d9", "system"],
  ])("%s is %s", (id, expected) => expect(told(messageOf(CAPTURED, id))).toBe(expected));

  test("a skill's text is the client's, its arguments are the person's", () => {
    const [skill, typed] = messageOf(CAPTURED, "5e11e1fc").parts;
    expect(skill).toMatchObject({ provenance: "injected", options: { pond: { injected: "skill" } } });
    expect(typed).toMatchObject({ provenance: "conversational", text: "only the roses" });
  });

  test("summaries stand in the user's slot, injected, and are the model's", () => {
    expect(messageOf(CAPTURED, "e9924d30").parts[0]?.options["pond"]).toEqual({
      injected: "branch-summary",
      author: "model",
    });
    const compaction = messageOf(CAPTURED, "fd755999");
    expect(compaction.parts[0]?.options["pond"]).toEqual({ injected: "compaction-summary", author: "model" });
    expect(pondOf(compaction)["compaction"]).toBe("summary");
  });

  test("nothing is stored twice: what became typed is not in the leftover", () => {
    expect(messageOf(CAPTURED, "1197aa98").message.options["source"]).toEqual({
      record: {
        type: "message",
        message: {
          role: "bashExecution",
          exitCode: 0,
          cancelled: false,
          truncated: false,
          timestamp: 1794789904366,
        },
      },
      content: "absent",
    });
    expect(messageOf(CAPTURED, "c59df959").message.options).toEqual({
      source: { record: { message: { timestamp: 1794789905450 } } },
      pond: { parent: "bb9895d9" },
    });
  });

  test("the name that a person gave is the title", () => {
    const titleOf = (id: string) => recordedTitle(stateOf(id).messages.map(({ message }) => message));
    expect([CAPTURED, LANES, TRANSACTIONS, OLD].map(titleOf)).toEqual([
      "Garden plan",
      "Four",
      "In transactions",
      undefined,
    ]);
  });

  test("a parent is the message it names at that point of the log; one that is not there makes a root", () => {
    expect(pondOf(messageOf(HOSTILE, "b0000011"))["parent"]).toBe("b0000002#2");
    for (const id of ["b0000012", "b0000013", "b0000014"])
      expect([id, pondOf(messageOf(HOSTILE, id))["parent"]]).toEqual([id, null]);
    expect(pondOf(messageOf(HOSTILE, "b0000018"))).not.toHaveProperty("parent");
  });
});

describe("branches", () => {
  const active = (id: string): string[] => {
    const { messages } = stateOf(id);
    const ids = activeBranch(messages.map(({ message }) => message));
    return messages.filter(({ message, parts }) => ids.has(message.id) && parts.length > 0).map(told);
  };

  test("a leaf entry moves back to where it points", () => {
    expect(active(SMALL)).toEqual([
      "user; conversational text h\u00e9llo \u4f60\u597d",
      "assistant; conversational tool_call",
      "tool; injected tool_result",
    ]);
  });

  test("the last entry is the leaf: what was abandoned is not on the way to it", () => {
    const texts = active(CAPTURED).join("\n");
    expect(texts).toContain("Water the herbs instead.");
    expect(texts).not.toContain("Write the plan down.");
  });

  test("a log without ids is a plain list", () => {
    expect(active(OLD)).toHaveLength(5);
  });

  test("lanes: only the main one counts, and a lane record moves it", () => {
    expect(active(LANES)).toEqual([
      "user; conversational text version four",
      "assistant; conversational text on main",
      "user; conversational text half a millisecond",
    ]);
  });

  test("several records on one line: the tip of the main branch is the leaf", () => {
    expect(active(TRANSACTIONS)).toEqual([
      "user; conversational text version four",
      "assistant; conversational text answered",
    ]);
  });
});

describe("sessions", () => {
  test("a fork names its parent and marks what it copied", () => {
    const { session, messages } = stateOf(FORK);
    expect(session).toMatchObject({
      parent_session_id: CAPTURED,
      relation: "fork",
      project: "/tmp/pond-garden",
    });
    const copied = messages.filter((entry) => pondOf(entry)["replays"] !== undefined);
    expect(copied.at(-1)?.message.id).toBe("c38f983e");
    for (const entry of copied)
      expect(pondOf(entry)["replays"]).toEqual({ session_id: CAPTURED, message_id: entry.message.id });
    expect(
      messages.filter((entry) => pondOf(entry)["replays"] === undefined).map(({ message }) => message.id),
    ).toEqual([FORK, "ab542b88", "1c8047ad", "4673a8d7", "125b9aec", "5fb5b445"]);
  });

  test("a parent is read from a Windows path and from an id; a path without one names nobody", () => {
    expect(stateOf("0193a000-0000-7000-8000-000000000004@v1").session.parent_session_id).toBe(OLD);
    expect(stateOf(TRANSACTIONS).session.parent_session_id).toBe(LANES);
    expect(stateOf("0193a000-0000-7000-8000-000000000005@v2").session).not.toHaveProperty(
      "parent_session_id",
    );
  });

  test("what records no id has one of its own, every other log is a source of the session that it names", () => {
    const odd = [...states.values()].filter(({ session }) => /@[0-9a-f]{8}$/.test(session.id));
    expect(odd.map(({ session }) => [session.id.slice(0, -9), session.options["source"]])).toEqual([
      ["notes", { path: "odd/notes.jsonl", session_id: "notes" }],
    ]);
    expect(stateOf("my session").session.options["source"]).toEqual({ path: "odd/session.jsonl" });
    expect(stateOf("omp").session.options["source"]).toEqual({ path: "odd/title-slot.jsonl" });
  });

  test("a log that its client rewrote for a newer version does not mix with what it was", async () => {
    await using folder = await tempDir();
    const name = `2026-02-01T10-00-00-000Z_${OLD_ID}.jsonl`;
    const path = join(folder.path, name);
    copyFileSync(join(FIXTURE, "--srv-old--", name), path);
    const [unit] = (await listUnits(pi, folder.path)).units;
    const before = await readUnit(pi, unit!, { root: folder.path });
    // What the client does when it opens a log of version 1.
    const [header, ...entries] = readFileSync(path, "utf8").trim().split("\n");
    const migrated = entries.map((line, index) => ({
      ...(JSON.parse(line) as JsonObject),
      id: `0000000${index}`,
      parentId: index === 0 ? null : `0000000${index - 1}`,
    }));
    const lines = [{ ...(JSON.parse(header!) as JsonObject), version: 3 }, ...migrated];
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const [grown] = (await listUnits(pi, folder.path)).units;
    const after = await readUnit(pi, grown!, { root: folder.path, cursor: before.cursor });
    const both = replay([...before.events, ...after.events]);
    expect(both.map(({ session, messages }) => [session.id, messages.length])).toEqual([
      [OLD, 6],
      [OLD_ID, 6],
    ]);
    expect(await compareAll(await restoreNative(pi, after.events), folder.path)).toMatchObject([
      { records: 6, equal: 6 },
    ]);
  });

  test("a log keeps the id it was told under, whatever joins the place later", async () => {
    await using folder = await tempDir();
    const name = `2026-02-01T10-00-00-000Z_${SMALL}.jsonl`;
    mkdirSync(join(folder.path, "m"));
    copyFileSync(join(FIXTURE, "--srv-demo--", name), join(folder.path, "m", name));
    const [unit] = (await listUnits(pi, folder.path)).units;
    const first = await readUnit(pi, unit!, { root: folder.path });
    mkdirSync(join(folder.path, "a"));
    copyFileSync(join(FIXTURE, "--srv-demo--", name), join(folder.path, "a", name));
    appendFileSync(join(folder.path, "m", name), '{"type":"custom","id":"a0000009","parentId":null}\n');
    const { units } = await listUnits(pi, folder.path);
    const moved = units.find(({ key }) => key.startsWith("m/"))!;
    const more = await readUnit(pi, moved, { root: folder.path, cursor: first.cursor });
    expect(replay([...first.events, ...more.events])).toHaveLength(1);
    expect(more.events.filter(({ kind }) => kind === "message")).toHaveLength(1);
  });

  test("a file without a header waits while it is written, then is told under its folder's name", async () => {
    await using folder = await tempDir();
    mkdirSync(join(folder.path, "--home-me--"));
    const path = join(folder.path, "--home-me--", "x.jsonl");
    writeFileSync(path, '{"type":"custom"}\n');
    utimesSync(path, new Date(LATER), new Date(LATER - 1000));
    const [unit] = (await listUnits(pi, folder.path)).units;
    const early = await readUnit(pi, unit!, { root: folder.path, now: LATER });
    expect([early.events, early.waiting.length, early.cursor]).toEqual([[], 1, undefined]);
    const late = await readUnit(pi, unit!, { root: folder.path, now: LATER + 3_600_000 });
    expect(late.events[0]).toMatchObject({
      session: { project: "--home-me--", options: { pond: { created_at: "file" } } },
    });
    expect(late.issues).toMatchObject([{ kind: "unexpected_shape", path }]);
  });
});

describe("places", () => {
  test("are the default folder, or what the client's own variables name, where they exist", async () => {
    await using home = await tempDir();
    const at = (env: Record<string, string>) =>
      placesThatExist(pi.defaultPlaces({ ...NOWHERE, home: home.path, env }));
    expect(await at({})).toEqual([]);
    mkdirSync(join(home.path, ".pi/agent/sessions"), { recursive: true });
    mkdirSync(join(home.path, "other/sessions"), { recursive: true });
    const standard = { path: join(home.path, ".pi/agent/sessions"), origin: "default" };
    const other = { path: join(home.path, "other/sessions"), origin: "environment" };
    expect(await at({})).toEqual([standard]);
    expect(await at({ PI_CODING_AGENT_DIR: "~/other" })).toEqual([
      { ...other, variable: "PI_CODING_AGENT_DIR" },
    ]);
    expect(await at({ PI_CODING_AGENT_SESSION_DIR: other.path })).toEqual([
      standard,
      { ...other, variable: "PI_CODING_AGENT_SESSION_DIR" },
    ]);
    expect(await at({ PI_CODING_AGENT_DIR: "~/other", PI_CODING_AGENT_SESSION_DIR: other.path })).toEqual([
      { ...other, variable: "PI_CODING_AGENT_DIR" },
    ]);
  });
});
