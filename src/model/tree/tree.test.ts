/** Trees in stages, over sessions in memory (spec.md#live-staged-tree). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MemoryTree } from "../../../test/support/memory-tree.ts";
import { memoryTree } from "../../../test/support/memory-tree.ts";
import { sealExtracted } from "../extracted.ts";
import type { MessageKey, Part, PartType, Session } from "../index.ts";
import type { MessageRange, SessionNode, SessionPlan, TreeScope } from "./index.ts";
import type { SessionState } from "../events/index.ts";
import {
  hydrateTree,
  lineageOf,
  loadTree,
  planParts,
  planTree,
  resolveTree,
  sessionsIn,
  stateOf,
} from "./index.ts";
import { messageId, partId, sessionId } from "../index.ts";
import { timestampFromMillis } from "../timestamp.ts";

const ROOT = sessionId("root");

describe("a plan", () => {
  test("holds every session, message and part with its sizes, and reads no body", async () => {
    const source = memoryTree(family());
    const { value, issues } = await planTree(source, ROOT);
    expect(issues).toEqual([]);
    expect([...sessionsIn(value)].map(({ id, depth, total }) => [id, depth, total])).toEqual([
      ["root", 0, { messages: 3, bytes: 330 }],
      ["root/agent", 1, { messages: 2, bytes: 220 }],
      ["root/agent/deep", 2, { messages: 1, bytes: 110 }],
      ["root/fork-of-it", 1, { messages: 1, bytes: 110 }],
    ]);
    expect(value.messages[1]?.parts.map(({ id, type }) => [id, type])).toEqual([["0", "text"]]);
    expect(source.reads).toEqual([]);
  });

  test("is plain data: it can be sent as JSON and resolved elsewhere", async () => {
    const plan = await planTree(memoryTree(family()), ROOT);
    const source = memoryTree(family());
    const sent: typeof plan.value = JSON.parse(JSON.stringify(plan.value));
    const refs = await resolveTree(source, sent);
    const tree = await hydrateTree(source, refs.value);
    expect(tree.issues).toEqual([]);
    expect(statesIn(tree.value)).toEqual(family());
  });

  test("a depth leaves out what is below it, and says from where to go on", async () => {
    const { value, issues } = await planTree(memoryTree(family()), ROOT, { depth: 1 });
    expect([...sessionsIn(value)].map(({ id }) => id)).toEqual(["root", "root/agent", "root/fork-of-it"]);
    const deep = { id: "root/agent/deep" };
    expect(issues).toEqual([
      {
        stage: "plan",
        key: deep,
        kind: "cut",
        message: "it lies 2 generations below the root",
        continue_from: deep,
      },
    ]);
    const rest = await planTree(memoryTree(family()), sessionId(deep.id), { depth: 1 });
    expect([...sessionsIn(rest.value)].map(({ id }) => id)).toEqual([deep.id]);
  });

  test("without subagents keeps forks, and is no cut", async () => {
    const { value, issues } = await planTree(memoryTree(family()), ROOT, { subagents: false });
    expect([...sessionsIn(value)].map(({ id }) => id)).toEqual(["root", "root/fork-of-it"]);
    expect(issues).toEqual([]);
  });

  test("types of parts choose; none of them looks for no part", async () => {
    const source = memoryTree([
      sessionOf("root", { messages: 2, types: ["text", "reasoning", "tool_call"] }),
    ]);
    const some = await planTree(source, ROOT, { partTypes: ["reasoning", "tool_call"] });
    expect(some.value.messages[0]?.parts.map(({ type }) => type)).toEqual(["reasoning", "tool_call"]);
    source.lookedForParts.length = 0;
    const none = await planTree(source, ROOT, { partTypes: [] });
    expect(none.value.messages.map(({ parts }) => parts)).toEqual([[], []]);
    expect(source.lookedForParts).toEqual([]);
    const cutDown = { ...none.value, messages: none.value.messages.slice(1) };
    const later = await planParts(source, cutDown);
    expect(later.value.messages.map(({ id, parts }) => [id, parts.length])).toEqual([["root-1", 3]]);
  });

  test("a cycle is one issue and ends there", async () => {
    const states = [
      sessionOf("root", { messages: 1, parent: "child" }),
      sessionOf("child", { messages: 1, parent: "root" }),
    ];
    const { value, issues } = await planTree(memoryTree(states), ROOT);
    expect([...sessionsIn(value)].map(({ id }) => id)).toEqual(["root", "child"]);
    expect(issues).toMatchObject([{ stage: "plan", kind: "cycle", key: { id: "root" } }]);
  });

  test("a session that names itself as its parent is a root", async () => {
    const states = [
      sessionOf("root", { messages: 1, parent: "root" }),
      sessionOf("child", { messages: 1, parent: "root" }),
    ];
    const { value, issues } = await planTree(memoryTree(states), ROOT);
    expect([...sessionsIn(value)].map(({ id }) => id)).toEqual(["root", "child"]);
    expect(issues).toEqual([]);
  });

  test("looks at no session outside its range", async () => {
    const source = memoryTree(family());
    const after = { session_id: sessionId("root/agent"), id: messageId("root/agent-0") };
    const before = { session_id: sessionId("root/agent/deep"), id: messageId("root/agent/deep-0") };
    const { value } = await planTree(source, ROOT, { messages: { after, before } });
    expect(keysIn(value)).toEqual(["root/agent-1"]);
    expect(source.looked).toEqual(["root/agent", "root/agent/deep"]);
    expect(value.total).toBeUndefined();
  });

  test("what is not there cannot be planned", async () => {
    const source = memoryTree(family());
    const gone: MessageKey = { session_id: ROOT, id: messageId("gone") };
    await expect(planTree(source, sessionId("gone"))).rejects.toMatchObject({ code: "not_found" });
    await expect(planTree(source, ROOT, { messages: { after: gone } })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(
      planTree(source, ROOT, {
        depth: 0,
        messages: { before: { ...gone, session_id: sessionId("root/fork-of-it") } },
      }),
    ).rejects.toMatchObject({ code: "not_found" });
    await expect(planTree(source, ROOT, { messages: { limit: 0 } })).rejects.toMatchObject({
      code: "validation_failed",
    });
  });

  test("walking on from cut to cut meets every message once, in order, from either end", async () => {
    const shape = fc.array(
      fc.record({ parent: fc.nat(), messages: fc.nat({ max: 4 }), parts: fc.nat({ max: 2 }) }),
      { minLength: 1, maxLength: 6 },
    );
    const bound = fc.record(
      { limit: fc.integer({ min: 1, max: 4 }), maxBytes: fc.nat({ max: 500 }) },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        shape,
        bound,
        fc.constantFrom("start" as const, "end" as const),
        async (seeds, { limit, maxBytes }, from) => {
          const states = seeds.map(({ parent, messages, parts }, at) =>
            sessionOf(at === 0 ? "root" : `s${at}`, {
              messages,
              types: Array.from({ length: parts }, () => "text" as const),
              ...(at === 0 ? {} : { parent: parent % at === 0 ? "root" : `s${parent % at}` }),
            }),
          );
          const source = memoryTree(states);
          const whole = keysIn((await planTree(source, ROOT)).value);
          const walked: string[] = [];
          for (let range: MessageRange | undefined = {}; range !== undefined;) {
            const scope: TreeScope = {
              messages: { ...range, from, ...(limit === undefined ? {} : { limit }) },
              ...(maxBytes === undefined ? {} : { maxBytes }),
            };
            const { value, issues }: Awaited<ReturnType<typeof planTree>> = await planTree(
              source,
              ROOT,
              scope,
            );
            const keys = keysIn(value);
            expect(keys.length).toBeLessThanOrEqual(limit ?? Infinity);
            if (from === "start") walked.push(...keys);
            else walked.unshift(...keys);
            const [cut] = issues;
            expect(issues.length).toBeLessThanOrEqual(1);
            const next = cut?.continue_from as MessageKey | undefined;
            if (next === undefined) range = undefined;
            else range = from === "start" ? { after: next } : { before: next };
          }
          expect(walked).toEqual(whole);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("references", () => {
  test("a session that went away is one issue, and its messages are still told", async () => {
    const source = memoryTree(family());
    source.unresolved.set("session root/fork-of-it", { kind: "missing", message: "its row is gone" });
    const plan = await planTree(source, ROOT);
    const refs = await resolveTree(source, plan.value);
    expect(refs.issues).toEqual([
      { stage: "resolve", key: { id: "root/fork-of-it" }, kind: "missing", message: "its row is gone" },
    ]);
    expect(source.reads).toEqual([]);
    const tree = await hydrateTree(source, refs.value);
    expect(tree.issues).toEqual([]);
    const fork = [...sessionsIn(tree.value)].find(({ plan: { id } }) => id === "root/fork-of-it");
    expect(fork?.session).toBeUndefined();
    expect(fork?.messages[0]?.message?.id).toBe("root/fork-of-it-0");
    expect(lineageOf(tree.value)?.children.map(({ state }) => state.session.id)).toEqual(["root/agent"]);
  });
});

test("a copy of a node under another key does not have its reference", async () => {
  const source = memoryTree(family());
  const { value } = await planTree(source, ROOT, { depth: 0 });
  const [first] = value.messages;
  const copy = { ...first!, id: messageId("root-2"), parts: [] };
  const refs = await resolveTree(source, { ...value, messages: [copy] });
  const tree = await hydrateTree(source, refs.value);
  expect(tree.value.messages.map(({ message }) => message?.id)).toEqual(["root-2"]);
});

describe("values", () => {
  test("come for what was chosen only, and each leaf is read once", async () => {
    const source = memoryTree(family());
    const refs = await resolveTree(source, (await planTree(source, ROOT)).value);
    const isFork = (node: object): boolean => "session_id" in node && node.session_id === "root/fork-of-it";
    const some = await hydrateTree(source, refs.value, isFork);
    expect(source.reads).toEqual([
      "session root/fork-of-it, message root/fork-of-it-0",
      "session root/fork-of-it, message root/fork-of-it-0, part 0",
    ]);
    expect(stateOf(some.value)).toBeUndefined();
    const [first, second] = await Promise.all([
      hydrateTree(source, refs.value),
      hydrateTree(source, refs.value),
    ]);
    expect(new Set(source.reads).size).toBe(source.reads.length);
    expect(statesIn(first.value)).toEqual(family());
    expect(second.value).toEqual(first.value);
  });

  test("a corrupt leaf is one issue, each time, and everything else comes", async () => {
    const source = memoryTree(family());
    const bad = "session root, message root-1, part 0";
    source.unreadable.set(bad, { kind: "unreadable", message: "its text is no JSON" });
    const refs = await resolveTree(source, (await planTree(source, ROOT)).value);
    const issue = {
      stage: "hydrate",
      key: { session_id: "root", message_id: "root-1", id: "0" },
      kind: "unreadable",
      message: "its text is no JSON",
    };
    const tree = await hydrateTree(source, refs.value);
    expect(tree.issues).toEqual([issue]);
    expect((await hydrateTree(source, refs.value)).issues).toEqual([issue]);
    expect(source.reads.filter((ref) => ref === bad)).toEqual([bad]);
    const expected = family();
    expect(statesIn(tree.value)).toEqual([
      {
        ...expected[0],
        messages: expected[0]?.messages.map((turn, at) => (at === 1 ? { ...turn, parts: [] } : turn)),
      },
      ...expected.slice(1),
    ]);
  });

  test("a read that fails as a whole is thrown, and can be tried again", async () => {
    const memory = memoryTree(family());
    let broken = true;
    const source: MemoryTree = {
      ...memory,
      bodies: (leaves) => (broken ? Promise.reject(new Error("the network is down")) : memory.bodies(leaves)),
    };
    const refs = await resolveTree(source, (await planTree(source, ROOT)).value);
    await expect(hydrateTree(source, refs.value)).rejects.toThrow("the network is down");
    broken = false;
    expect(statesIn((await hydrateTree(source, refs.value)).value)).toEqual(family());
  });

  test("a reference that leads elsewhere gives no value", async () => {
    const memory = memoryTree(family());
    const source: MemoryTree = {
      ...memory,
      bodies: (leaves) =>
        memory.bodies(
          leaves.map((leaf) =>
            leaf.ref.name === "session root/fork-of-it"
              ? { ...leaf, ref: { ...leaf.ref, name: "session root" } }
              : leaf,
          ),
        ),
    };
    const { issues } = await loadTree(source, ROOT);
    expect(issues).toMatchObject([{ stage: "hydrate", kind: "changed", key: { id: "root/fork-of-it" } }]);
  });

  test("all in one call equals the three stages, issues in order", async () => {
    const scope: TreeScope = { depth: 1 };
    const faulty = (): ReturnType<typeof memoryTree> => {
      const source = memoryTree(family());
      source.unresolved.set("session root/fork-of-it", { kind: "missing", message: "gone" });
      source.unreadable.set("session root", { kind: "unreadable", message: "torn" });
      return source;
    };
    const source = faulty();
    const plan = await planTree(source, ROOT, scope);
    const refs = await resolveTree(source, plan.value);
    const tree = await hydrateTree(source, refs.value);
    const loaded = await loadTree(faulty(), ROOT, scope);
    expect(loaded.value).toEqual(tree.value);
    expect(loaded.issues).toEqual([...plan.issues, ...refs.issues, ...tree.issues]);
    expect(loaded.issues.map(({ stage, kind }) => [stage, kind])).toEqual([
      ["plan", "cut"],
      ["resolve", "missing"],
      ["hydrate", "unreadable"],
    ]);
  });
});

/** A session with an agent, the agent of that one, and a fork; in the order of the tree. */
function family(): SessionState[] {
  return [
    sessionOf("root", { messages: 3 }),
    sessionOf("root/agent", { messages: 2, parent: "root", agent: "client/explorer" }),
    sessionOf("root/agent/deep", { messages: 1, parent: "root/agent", agent: "client/explorer" }),
    sessionOf("root/fork-of-it", { messages: 1, parent: "root" }),
  ];
}

interface Seed {
  readonly messages: number;
  readonly parent?: string;
  readonly agent?: string;
  readonly types?: readonly PartType[];
}

function sessionOf(
  name: string,
  { messages, parent, agent = "client", types = ["text"] }: Seed,
): SessionState {
  const id = sessionId(name);
  const session: Session = {
    id,
    ...(parent === undefined ? {} : { parent_session_id: sessionId(parent) }),
    source_agent: agent,
    created_at: timestampFromMillis(name.length * 1000)!,
    project: sealExtracted("/srv/demo"),
    options: {},
  };
  return {
    session,
    messages: Array.from({ length: messages }, (_, seq) => {
      const message_id = messageId(`${name}-${seq}`);
      const timestamp = timestampFromMillis(seq)!;
      return {
        message: { id: message_id, session_id: id, seq, timestamp, role: "assistant", options: {} },
        parts: types.map((type, ordinal) => ({
          id: partId(String(ordinal)),
          session_id: id,
          message_id,
          ordinal,
          type,
          provenance: "conversational",
          options: {},
        })) as Part[],
      };
    }),
  };
}

function keysIn(plan: SessionPlan): string[] {
  return [...sessionsIn(plan)].flatMap(({ messages }) => messages.map(({ id }) => id));
}

function statesIn(tree: SessionNode): (SessionState | undefined)[] {
  return [...sessionsIn(tree)].map(stateOf);
}
