/**
 * A call or result that a copy of its session repeats is one hit of an exact search, as what was said is one of a search by
 * words (spec.md#search-shown-once): in a session that pond restored and a client carried on, and in replayed forks, on
 * whichever page they are.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json/json.ts";
import { restore, search, sync } from "../../src/handlers/index.ts";
import type { Event } from "../../src/model/index.ts";
import type { Hit, SearchRequest } from "../../src/wire/index.ts";
import { carryOn, carryOnOpencode, importIntoOpencode } from "../support/restored-story.ts";
import type { SessionFacts } from "../support/story.ts";
import { story } from "../support/story.ts";
import type { TempContext } from "../support/temp-context.ts";
import { tempContext } from "../support/temp-context.ts";

const ID = "aaaaaaaa-1111-4111-8111-111111111111";

const record = (at: number, type: string, content: unknown): object => ({
  type,
  uuid: `u${at}`,
  parentUuid: at === 0 ? null : `u${at - 1}`,
  sessionId: ID,
  cwd: "/srv/app",
  version: "2.1.197",
  timestamp: new Date(Date.UTC(2026, 4, 1, 10, 0, at)).toISOString(),
  message: { role: type, ...(type === "assistant" ? { id: `m${at}`, model: "opus" } : {}), content },
});

const call = (id: string, command: string): object => ({
  type: "tool_use",
  id,
  name: "Bash",
  input: { command },
});

const result = (id: string, content: string): object => ({ type: "tool_result", tool_use_id: id, content });

/** Two calls in one record beside a text: other clients make a message of each. */
const RECORDS = [
  record(0, "user", "How does the zebrafish retry?"),
  record(1, "assistant", [
    { type: "text", text: "With jitter." },
    call("toolu_1", "cat wombat.txt"),
    call("toolu_2", "cat numbat.txt"),
  ]),
  record(2, "user", [result("toolu_1", "an echidna"), result("toolu_2", "a bandicoot")]),
  record(3, "assistant", [{ type: "text", text: "Ask the narwhal." }]),
];

interface Shown {
  readonly session: string;
  readonly message: string;
  readonly also: readonly string[];
}

/** All hits, page after page. */
async function exact({ context }: TempContext, query: string, limit = 10): Promise<readonly Shown[]> {
  const shown: Shown[] = [];
  let total = 0;
  for (let next: SearchRequest | undefined = { query, mode: "exact", limit }; next !== undefined;) {
    const page = await search(context, next);
    total += page.matched_total;
    for (const { session_id, matches } of page.sessions)
      shown.push(...matches.map((hit) => ({ session: session_id, ...named(hit) })));
    next = page.next_cursor === undefined ? undefined : { ...next, cursor: page.next_cursor };
  }
  if (limit >= 10) expect(total).toBe(shown.length);
  return shown;
}

const named = ({ message_id, also_in = [] }: Hit): Omit<Shown, "session"> => ({
  message: message_id,
  also: also_in.map(({ session_id }) => session_id),
});

async function storedSession({ context, home }: TempContext): Promise<void> {
  const path = join(home, ".claude/projects/-srv-app", `${ID}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, RECORDS.map((each) => `${JSON.stringify(each)}\n`).join(""));
  await sync(context, {});
}

/** Restored into a client, and carried on there: the id of the session that it is there. */
async function handOn({ context, home }: TempContext, session: string, client: string): Promise<string> {
  const { files, resume } = await restore(context, { session_id: session, to: client });
  const log = files[0]?.path ?? "";
  if (client === "opencode") {
    importIntoOpencode(home, log);
    carryOnOpencode(home, resume.id, "And the platypus?");
  } else carryOn(client, log, "And the platypus?");
  await sync(context, {});
  return resume.id;
}

const FOUND = [
  ["wombat", "u1"],
  ["numbat", "u1"],
  ["echidna", "u2"],
  ["bandicoot", "u2"],
  ["zebrafish", "u0"],
] as const;

describe.each(["codex-cli", "pi", "opencode"])(
  "a session that was restored into %s and carried on",
  (client) => {
    test("repeats no call and no result, and each hit says where else it is", async () => {
      await using temp = await tempContext();
      await storedSession(temp);
      const copy = await handOn(temp, ID, client);
      for (const [word, message] of FOUND)
        expect([word, await exact(temp, word)]).toEqual([word, [{ session: ID, message, also: [copy] }]]);
      // Both calls of one record are hits, and each is named by its own copy.
      expect(await exact(temp, "cat ")).toMatchObject([
        { message: "u1", also: [copy] },
        { message: "u1", also: [copy] },
      ]);
      expect(await exact(temp, "platypus")).toMatchObject([{ session: copy, also: [] }]);
    });
  },
);

/** opencode keeps calls and results in one record, which is told as several messages. */
test("a result that was handed on through a client that joins it with its call is one hit", async () => {
  await using temp = await tempContext();
  await storedSession(temp);
  const between = await handOn(temp, ID, "opencode");
  const last = await handOn(temp, between, "pi");
  for (const [word, message] of FOUND) {
    const [hit, ...others] = await exact(temp, word);
    expect([word, hit, others]).toMatchObject([word, { session: ID, message }, []]);
    expect(hit?.also.toSorted()).toEqual([between, last].toSorted());
  }
  for (const source_agent of ["opencode", "pi"]) {
    const { sessions } = await search(temp.context, {
      query: "echidna",
      mode: "exact",
      filters: { source_agent },
    });
    expect(sessions).toMatchObject([{ matches: [{}] }]);
  }
});

describe("calls of replayed forks", () => {
  const day = (at: number): string => new Date(Date.UTC(2026, 0, 1 + at)).toISOString();

  /** So many other sessions that one scan does not see all. */
  async function withOthers(temp: TempContext, days: readonly [from: number, to: number]): Promise<void> {
    const [from, to] = days;
    const others = Array.from({ length: to - from }, (_, at) =>
      story(`other-${from + at}`, { at: day(from + at) })
        .user("hay")
        .events(),
    );
    await temp.ingest(others.flat());
  }

  const asked = (id: string, facts: SessionFacts, replays?: true | { session_id: string }) =>
    story(id, facts)
      .call(
        "Bash",
        { command: "grep wombat" },
        {
          id: "m",
          ...(replays === undefined
            ? {}
            : { pond: { replays: replays === true ? true : { ...replays, message_id: "m" } } }),
        },
      )
      .events();

  test("are one hit beside the original, with the fork's own parts", async () => {
    await using temp = await tempContext();
    await temp.ingest(asked("original", { at: day(1) }));
    await temp.ingest(asked("fork", { at: day(2) }, { session_id: "original" }));
    await temp.ingest(asked("copy", { at: day(3) }, true));
    expect(await exact(temp, "wombat")).toEqual([
      { session: "original", message: "m", also: ["copy", "fork"] },
    ]);
  });

  test.each([
    ["older", [1, 200]],
    ["newer", [200, 1]],
  ] as const)(
    "are one hit where the original is much %s, on one page and on many",
    async (_, [original, fork]) => {
      await using temp = await tempContext();
      await temp.ingest(asked("original", { at: day(original) }));
      await temp.ingest(asked("fork", { at: day(fork) }, { session_id: "original" }));
      await temp.ingest(asked("copy", { at: day(fork + 1) }, true));
      await withOthers(temp, [20, 180]);
      for (const limit of [10, 1])
        expect((await exact(temp, "wombat", limit)).map(({ session }) => session)).toEqual(["original"]);
    },
  );

  test("are one hit where the original is not stored, and where it does not match", async () => {
    await using temp = await tempContext();
    await temp.ingest(asked("copy-1", { at: day(1) }, true));
    await temp.ingest(asked("copy-2", { at: day(200) }, true));
    await temp.ingest(
      story("numbered", { at: day(2) })
        .user("hay", { id: "m" })
        .events(),
    );
    await withOthers(temp, [20, 180]);
    for (const limit of [10, 1])
      expect((await exact(temp, "wombat", limit)).map(({ session }) => session)).toEqual(["copy-2"]);
    const { sessions } = await search(temp.context, {
      query: "wombat",
      mode: "exact",
      filters: { session_id: "copy-1" },
    });
    expect(sessions).toMatchObject([{ session_id: "copy-1" }]);
  });

  test("are hits of their own where they claim to be copies of each other", async () => {
    await using temp = await tempContext();
    await temp.ingest(asked("a", { at: day(1) }, { session_id: "b" }));
    await temp.ingest(asked("b", { at: day(200) }, { session_id: "a" }));
    await withOthers(temp, [20, 180]);
    expect(await exact(temp, "wombat")).not.toEqual([]);
  });

  /** A record that is told as two messages, as opencode's are. */
  const joined = (id: string, facts: SessionFacts, pond: JsonObject = {}): Event[] =>
    story(id, facts)
      .call("Bash", { command: "ls" }, { id: "m", pond })
      .result("Bash", "a wombat", { id: "m/1", pond: { record: "m" } })
      .events();

  test.each([
    ["older", [1, 200]],
    ["newer", [200, 1]],
  ] as const)(
    "are one hit where the original is a further message of its record, and much %s",
    async (_, [original, copy]) => {
      await using temp = await tempContext();
      await temp.ingest(joined("original", { at: day(original) }));
      const restored = { session_id: "original", message_id: "m" };
      const resumes = { parent: "original", relation: "resume" } as const;
      await temp.ingest(
        story("copy", { at: day(copy), ...resumes })
          .result("Bash", "a wombat", { id: "e1", pond: { restored } })
          .events(),
      );
      await withOthers(temp, [20, 180]);
      for (const limit of [10, 1])
        expect((await exact(temp, "wombat", limit)).map(({ session }) => session)).toEqual(["original"]);
    },
  );

  test.each([
    ["older", [1, 200]],
    ["newer", [200, 1]],
  ] as const)(
    "are one hit where only the first message of a copied record says what they repeat, and the original is %s",
    async (_, [original, copy]) => {
      await using temp = await tempContext();
      await temp.ingest(
        story("original", { at: day(original) })
          .call("Bash", { command: "ls" }, { id: "u1" })
          .result("Bash", "a wombat", { id: "u2" })
          .events(),
      );
      const also = [{ session_id: "original", message_id: "u2" }];
      const restored = { session_id: "original", message_id: "u1", also };
      const resumes = { parent: "original", relation: "resume" } as const;
      await temp.ingest(joined("copy", { at: day(copy), ...resumes }, { restored }));
      await withOthers(temp, [20, 180]);
      for (const limit of [10, 1])
        expect((await exact(temp, "wombat", limit)).map(({ session }) => session)).toEqual(["original"]);
    },
  );
});
