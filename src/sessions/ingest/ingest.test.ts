import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { sessionEvents } from "../../../test/support/arbitrary-events.ts";
import { conversation, ingestInto, rename, SMALL } from "../../../test/support/ingested.ts";
import { refusing } from "../../../test/support/refusing-table.ts";
import { tempStore, type TempStore } from "../../../test/support/temp-store.ts";
import { systemClock } from "../../base/clock.ts";
import { PondError } from "../../base/errors.ts";
import { sealExtracted } from "../../model/extracted.ts";
import type { Event } from "../../model/index.ts";
import { replay } from "../../model/events/index.ts";
import { sessionId } from "../../model/index.ts";
import type { Durable } from "./commits.ts";
import { Ingest } from "./ingest.ts";
import type { TableSpec } from "../../substrate/index.ts";
import { eq } from "../../substrate/engine/predicate.ts";
import { remoteTables, tableCalls } from "./remote-tables.ts";
import { ingestTables, type RowTarget } from "../tables/tables.ts";

/** Keeps the checkpoints that are durable. */
const into =
  (reached: string[]) =>
  ({ checkpoints }: Durable<string, never>): void => {
    reached.push(...checkpoints);
  };

describe("rows", () => {
  test("every value of every canonical object survives the store", async () => {
    await using store = await tempStore();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(sessionEvents, async (events) => {
        const renamed = rename(events, `run-${run++}`);
        await ingestInto(store, renamed);
        const [expected] = replay(renamed);
        expect(await store.sessions.state(expected!.session.id)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});

describe("ingest", () => {
  test("any split and repetition of the same events leaves the same rows", async () => {
    await using store = await tempStore();
    let run = 0;
    const pieces = fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(sessionEvents, pieces, async (events, cuts) => {
        const renamed = rename(events, `run-${run++}`);
        const [expected] = replay(renamed);
        const messages = eventsByMessage(renamed);
        // Any stretch of whole messages behind the session event, in any order, is what the contract allows.
        for (const [from, length] of cuts) {
          const start = from % (messages.length + 1);
          await ingestInto(store, [renamed[0]!, ...messages.slice(start, start + (length % 4)).flat()]);
        }
        await ingestInto(store, renamed);
        const second = await ingestInto(store, renamed);
        expect(second.sessions.inserted + second.messages.inserted + second.parts.inserted).toBe(0);
        expect(await store.sessions.state(expected!.session.id)).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });

  test("a checkpoint is reached with the commit that holds it, and few batches wait for a commit", async () => {
    await using store = await tempStore();
    const reached: string[] = [];
    const seen: string[][] = [];
    const writer = store.sessions.ingest({
      clock: systemClock,
      limits: SMALL,
      onCommit: ({ checkpoints }: Durable<string, never>) => {
        reached.push(...checkpoints);
        seen.push([...reached]);
      },
    });
    const ids = "a b c d e f g h i j".split(" ");
    for (const id of ids) {
      await writer.add(conversation(id, 2));
      await writer.checkpoint(id);
    }
    expect(seen[0]).toEqual(ids.slice(0, 4));
    await writer.flush();
    expect(seen.at(-1)).toEqual(ids);
  });

  test("counts what was inserted and what was there", async () => {
    await using store = await tempStore();
    const events = conversation("s", 30);
    expect(await ingestInto(store, events)).toMatchObject({
      sessions: { inserted: 1, matched: 0 },
      messages: { inserted: 30, matched: 0 },
      parts: { inserted: 30, matched: 0 },
    });
    expect(await ingestInto(store, [...events, ...events])).toMatchObject({
      messages: { inserted: 0, matched: 60 },
      parts: { inserted: 0, matched: 60 },
      commits: 0,
    });
  });

  test("a session's row comes after its messages: one that was cut short is not shown, and is completed later", async () => {
    await using store = await tempStore();
    const events = conversation("s", 30);
    const cut = store.sessions.ingest({ clock: systemClock, limits: SMALL });
    await cut.add(events.slice(0, 40));
    // The process dies here: batches went out, the session's row did not.
    expect(await store.sessions.session("s")).toBeUndefined();
    await ingestInto(store, events);
    expect((await store.sessions.state(sessionId("s")))?.messages).toHaveLength(30);
  });

  test("a batch is committed while a source that never waits goes on", async () => {
    await using store = await tempStore();
    const committed = vi.fn<() => void>();
    const writer = store.sessions.ingest({
      clock: systemClock,
      limits: { rows: 5, bytes: 1e9 },
      onCommit: committed,
    });
    // As many batches as wait for one commit.
    const events = conversation("s", 10);
    function* endless(): Generator<Event> {
      yield* events;
      // A part twice over is rejected, so that the next batch never fills.
      for (let more = 0; more < 50_000_000 && committed.mock.calls.length === 0; more++) yield events.at(-1)!;
    }
    await writer.add(endless());
    expect(committed).toHaveBeenCalled();
  });

  test("sessions whose rows alone are more than the engine takes at once are all stored", async () => {
    await using store = await tempStore();
    const events = Array.from({ length: 70 }, (_, index) => {
      const [session] = conversation(`s${index}`, 0);
      return session?.kind === "session"
        ? { ...session, session: { ...session.session, options: { long: "x".repeat(1_000_000) } } }
        : session!;
    });
    const writer = store.sessions.ingest({ clock: systemClock, limits: { rows: 1e6, bytes: 1e9 } });
    await writer.add(events);
    expect(await writer.flush()).toMatchObject({ sessions: { inserted: 70, matched: 0 }, commits: 1 });
    expect(await store.sessions.tables.sessions.count()).toBe(70);
  });

  test("labels are immutable: a differing session is rejected, its messages go under the stored labels", async () => {
    await using store = await tempStore();
    await ingestInto(store, conversation("s", 2));
    expect(await ingestInto(store, labelled(conversation("s", 4), "/elsewhere"))).toMatchObject({
      relabelled: 1,
      messages: { inserted: 2, matched: 2 },
    });
    expect((await store.sessions.session("s"))?.project).toBe("/project");
    expect(await projectsOf(store, "s")).toEqual(Array(4).fill("/project"));
  });

  test("labels are immutable also while the session's row is on its way", async () => {
    await using store = await tempStore();
    // Two batches are under way at a time: by their size the session comes again in the one that holds its row, or in
    // one behind that.
    for (const rows of [5, 6, 7, 8, 9, 10]) {
      const id = `s${rows}`;
      const writer = store.sessions.ingest({ clock: systemClock, limits: { rows, bytes: 1e6 } });
      await writer.add([
        ...conversation(id, 2),
        ...conversation(`other ${id}`, 2),
        ...labelled(conversation(id, 6), "/elsewhere"),
      ]);
      expect(await writer.flush()).toMatchObject({ relabelled: 1 });
    }
    const rows = await store.sessions.tables.messages.scan({ select: ["project"] });
    expect(new Set(Array.from({ length: rows.length }, (_, row) => rows.string("project", row)))).toEqual(
      new Set(["/project"]),
    );
  });

  test("labels are those of the session's row also where several threads store the session under their own", async () => {
    await using store = await tempStore();
    let run = 0;
    // Which of the threads goes on next; each says other labels, and has messages of its own.
    const turns = fc.array(fc.nat({ max: 2 }), { minLength: 6, maxLength: 24 });
    await fc.assert(
      fc.asyncProperty(turns, fc.integer({ min: 3, max: 12 }), async (order, rows) => {
        const id = `run-${run++}`;
        const calls = tableCalls(ingestTables(store.sessions.tables));
        const threads = [0, 1, 2].map((thread) => {
          const writer = new Ingest(remoteTables(calls), {
            clock: systemClock,
            limits: { rows, bytes: 1e6 },
          });
          const events = labelled(conversation(id, 8, { from: thread * 5 }), `/project ${thread}`);
          return { writer, events, at: 0 };
        });
        const resumeFrom = (
          { writer, events, at }: (typeof threads)[number],
          length = events.length,
        ): Promise<void> => writer.add(events.slice(at, at + length));
        for (const turn of order) {
          const thread = threads[turn]!;
          const going = resumeFrom(thread, 5);
          thread.at += 5;
          await going;
        }
        const summaries = await Promise.all(
          threads.map(async (thread) => {
            await resumeFrom(thread);
            return thread.writer.flush();
          }),
        );
        expect(summaries.reduce((sum, { relabelled }) => sum + relabelled, 0)).toBe(2);
        expect(summaries.reduce((sum, { messages }) => sum + messages.inserted, 0)).toBe(18);
        const { project } = (await store.sessions.session(id))!;
        expect(await projectsOf(store, id)).toEqual(Array(18).fill(project));
      }),
      { numRuns: 8 },
    );
  });

  test("a batch that fails fails all after it, and none of them is told as reached", async () => {
    await using store = await tempStore();
    const { tables } = store.sessions;
    const fault = new PondError("storage_unavailable", "the disk is gone");
    let inserts = 0;
    const messages = Object.assign(Object.create(tables.messages) as typeof tables.messages, {
      batch: () => tables.messages.batch(),
      insert: (batch: Parameters<typeof tables.messages.insert>[0]) =>
        ++inserts === 2 ? Promise.reject(fault) : tables.messages.insert(batch),
    });
    const reached: string[] = [];
    const writer = new Ingest(
      { ...ingestTables(tables), messages },
      { clock: systemClock, limits: SMALL, onCommit: into(reached) },
    );
    const run = async (): Promise<void> => {
      for (const id of ["a", "b", "c", "d", "e"]) {
        await writer.add(conversation(id, 2));
        await writer.checkpoint(id);
      }
      await writer.flush();
    };
    await expect(run()).rejects.toBe(fault);
    await expect(writer.flush()).rejects.toBe(fault);
    expect(reached).toEqual(["a"]);
    expect(await store.sessions.session("b")).toBeUndefined();
  });

  test("a failure is told when the batches before it have ended", async () => {
    await using store = await tempStore();
    const tables = ingestTables(store.sessions.tables);
    const written = Promise.withResolvers<void>();
    const fault = new PondError("storage_unavailable", "the disk is gone");
    const failed = Promise.withResolvers<void>();
    let inserts = 0;
    const reached: string[] = [];
    const writer = new Ingest(
      {
        ...tables,
        messages: intercepted(tables.messages, (insert) => {
          if (++inserts < 2) return insert();
          failed.resolve();
          return Promise.reject(fault);
        }),
        parts: intercepted(tables.parts, (insert) => written.promise.then(insert)),
      },
      { clock: systemClock, limits: { rows: 6, bytes: 1e6 }, onCommit: into(reached) },
    );
    for (const id of ["a", "b", "c"]) {
      await writer.add(conversation(id, 2));
      await writer.checkpoint(id);
    }
    await failed.promise;
    const stopped = writer.stop();
    written.resolve();
    await expect(stopped).rejects.toBe(fault);
    expect(writer.isFailed).toBe(true);
    expect(reached).toEqual(["a"]);
    expect(await store.sessions.session("a")).toBeDefined();
  });

  test("whichever write fails, before or after it took place, what is reached is whole without being read again", async () => {
    await using store = await tempStore();
    let run = 0;
    const source = fc.record({
      session: fc.nat({ max: 2 }),
      from: fc.nat({ max: 6 }),
      length: fc.nat({ max: 5 }),
    });
    const faults = fc.record({ at: fc.integer({ min: 1, max: 20 }), isAfter: fc.boolean() });
    const sources = fc.array(source, { minLength: 2, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        sources,
        faults,
        fc.integer({ min: 3, max: 12 }),
        async (given, { at, isAfter }, rows) => {
          const name = `run-${run++}`;
          const units = given.map(({ session, from, length }) => ({
            id: `${name}/${session}`,
            from,
            length,
          }));
          const tables = ingestTables(store.sessions.tables);
          let writes = 0;
          let underWay = 0;
          const failing = <S extends TableSpec>(table: RowTarget<S>): RowTarget<S> =>
            intercepted(table, async (insert) => {
              const isTurn = ++writes === at;
              if (isTurn && !isAfter) throw new PondError("storage_unavailable", "before");
              underWay += 1;
              const inserted = await insert().finally(() => (underWay -= 1));
              if (isTurn) throw new PondError("storage_unavailable", "after");
              return inserted;
            });
          const faulty = {
            ...tables,
            sessions: failing(tables.sessions),
            messages: failing(tables.messages),
            parts: failing(tables.parts),
          };
          const reached = new Set<(typeof units)[number]>();
          const onCommit = ({ checkpoints }: Durable<(typeof units)[number], never>): void => {
            for (const unit of checkpoints) reached.add(unit);
          };
          const read = async (writer: Ingest<(typeof units)[number]>): Promise<void> => {
            for (const unit of units.filter((each) => !reached.has(each))) {
              await writer.add(conversation(unit.id, unit.length, { from: unit.from }));
              await writer.checkpoint(unit);
            }
            await writer.flush();
          };
          const limits = { rows, bytes: 1e6 };
          const first = new Ingest(faulty, { clock: systemClock, limits, onCommit });
          await read(first)
            .catch(() => first.stop())
            .catch(() => undefined);
          expect(underWay).toBe(0);
          const expectWhole = async ({ id, from, length }: (typeof units)[number]): Promise<void> => {
            // Messages of the others may still lack parts.
            const state = await store.sessions.everything(sessionId(id));
            const stored = state?.messages.map(({ message, parts }) => `${message.id} ${parts.length}`);
            const expected = Array.from({ length }, (_, index) => `m${from + index} 1`);
            expect(stored).toEqual(expect.arrayContaining(expected));
          };
          for (const unit of reached) await expectWhole(unit);
          await read(new Ingest(tables, { clock: systemClock, limits, onCommit }));
          for (const unit of units) await expectWhole(unit);
        },
      ),
      { numRuns: 15 },
    );
  });

  test("session rows that could not be written fail all that is given after them", async () => {
    await using store = await tempStore();
    const tables = ingestTables(store.sessions.tables);
    const fault = new PondError("storage_unavailable", "the disk is gone");
    let inserts = 0;
    const sessions = intercepted(tables.sessions, (insert) =>
      ++inserts === 1 ? Promise.reject(fault) : insert(),
    );
    const reached: string[] = [];
    const writer = new Ingest({ ...tables, sessions }, { clock: systemClock, onCommit: into(reached) });
    for (const id of ["a", "b"]) {
      await writer.add(conversation(id, 2));
      await writer.checkpoint(id);
      await expect(writer.flush()).rejects.toBe(fault);
      expect(writer.isFailed).toBe(true);
    }
    await expect(writer.stop()).rejects.toBe(fault);
    expect(reached).toEqual([]);
  });

  test("who cannot take note of a commit fails the import", async () => {
    await using store = await tempStore();
    const fault = new PondError("storage_unavailable", "no cursor can be written");
    const writer = store.sessions.ingest({ clock: systemClock, onCommit: () => Promise.reject(fault) });
    await writer.add(conversation("s", 2));
    await expect(writer.flush()).rejects.toBe(fault);
  });

  test("what was being read when an import was stopped is not stored by what follows", async () => {
    await using store = await tempStore();
    const writer = store.sessions.ingest({ clock: systemClock });
    await writer.add(conversation("s", 3));
    await writer.stop();
    await writer.add(conversation("t", 1));
    expect(await writer.flush()).toMatchObject({ messages: { inserted: 1 } });
    expect(await projectsOf(store, "s")).toEqual([]);
  });

  test("a source is reached with the row of its session, also where the next source goes on with the session", async () => {
    await using store = await tempStore();
    const reached: string[] = [];
    const writer = store.sessions.ingest({ clock: systemClock, limits: SMALL, onCommit: into(reached) });
    await writer.add(conversation("s", 1));
    await writer.checkpoint("first");
    await writer.add(conversation("s", 4));
    // The second source is cut short and may be gone at the next run: the first one is not read again if it is reached.
    await writer.stop();
    expect(reached).toEqual([]);
    await writer.add(conversation("s", 1));
    await writer.checkpoint("second");
    await writer.flush();
    expect(await store.sessions.session("s")).toBeDefined();
  });

  test("what the store has of sessions is let go of when they are over", async () => {
    await using store = await tempStore();
    const ids = Array.from({ length: 12 }, (_, index) => `s${index}`);
    const events = ids.flatMap((id) => conversation(id, 4));
    await ingestInto(store, events);
    const { tables } = store.sessions;
    const drops: number[] = [];
    const messages = Object.assign(Object.create(tables.messages) as typeof tables.messages, {
      knownKeys: (...of: Parameters<typeof tables.messages.knownKeys>) => tables.messages.knownKeys(...of),
      batch: () => {
        const batch = tables.messages.batch();
        const drop = batch.drop.bind(batch);
        const at = drops.push(0) - 1;
        batch.drop = (keys) => {
          drops[at] = (drops[at] ?? 0) + 1;
          drop(keys);
        };
        return batch;
      },
    });
    const writer = new Ingest({ ...ingestTables(tables), messages }, { clock: systemClock, limits: SMALL });
    await writer.add(events);
    expect(await writer.flush()).toMatchObject({ messages: { inserted: 0, matched: 48 }, commits: 0 });
    expect(Math.max(...drops)).toBeLessThanOrEqual(2);
  });

  test("a message that no row can hold fails its own source only", async () => {
    await using store = await tempStore();
    const tables = ingestTables(store.sessions.tables);
    const messages = refusing(tables.messages, ({ session_id, id }) => session_id === "bad" && id === "m1");
    const reached: string[] = [];
    const writer = new Ingest({ ...tables, messages }, { clock: systemClock, onCommit: into(reached) });
    await writer.add(conversation("bad", 2));
    await expect(writer.checkpoint("bad")).rejects.toThrow("no row can hold it");
    await writer.add(conversation("good", 2));
    await writer.checkpoint("good");
    expect(await writer.flush()).toMatchObject({ messages: { inserted: 3 } });
    expect(reached).toEqual(["good"]);
  });

  test("a session that no row can hold fails its own source only", async () => {
    await using store = await tempStore();
    const writer = store.sessions.ingest({ clock: systemClock });
    // Three bytes a letter: the bound is one of bytes.
    const options = { long: "\u65e5".repeat(334_000_000) };
    const bad = conversation("bad", 2).map((event) =>
      event.kind === "session" ? { ...event, session: { ...event.session, options } } : event,
    );
    await expect(writer.add(bad)).rejects.toMatchObject({ code: "validation_failed" });
    await writer.add(conversation("good", 2));
    expect(await writer.flush()).toMatchObject({ sessions: { inserted: 1 }, messages: { inserted: 2 } });
  });

  test("a message is not stored without a part that no row can hold", async () => {
    await using store = await tempStore();
    const tables = ingestTables(store.sessions.tables);
    const isBad = ({ session_id, message_id }: Record<string, unknown>) =>
      session_id === "bad" && message_id === "m1";
    const writer = new Ingest({ ...tables, parts: refusing(tables.parts, isBad) }, { clock: systemClock });
    await expect(writer.add(conversation("bad", 2))).rejects.toThrow("no row can hold it");
    await writer.add(conversation("good", 2));
    expect(await writer.flush()).toMatchObject({ messages: { inserted: 3 }, parts: { inserted: 3 } });
    expect((await store.sessions.messageOutlines(sessionId("bad"))).map(({ id }) => id)).toEqual(["m0"]);
  });

  test("an event that breaks a rule is rejected and located, the rest is stored", async () => {
    await using store = await tempStore();
    const violations: string[] = [];
    const writer = store.sessions.ingest({
      clock: systemClock,
      onViolation: ({ rule }) => violations.push(rule),
    });
    const [session, message, part, ...rest] = conversation("s", 3);
    await writer.add([session!, part!, message!, part!, ...rest]);
    expect(await writer.flush()).toMatchObject({
      rejected: 1,
      messages: { inserted: 3 },
      parts: { inserted: 3 },
    });
    expect(violations).toEqual(["adapter-integrity-event-ordering"]);
  });
});

describe("reads", () => {
  test("messages come in log order, children by age, messages by id across sessions", async () => {
    await using store = await tempStore();
    await ingestInto(store, conversation("s", 12));
    await ingestInto(store, conversation("s/agent-b", 1, { parent: "s", at: 9 }));
    await ingestInto(store, conversation("s/agent-a", 1, { parent: "s", at: 5 }));
    const messages = await store.sessions.messageOutlines(sessionId("s"));
    expect(messages.map(({ id }) => id)).toEqual(Array.from({ length: 12 }, (_, index) => `m${index}`));
    expect((await store.sessions.children(sessionId("s"))).map((child) => child.id)).toEqual([
      "s/agent-a",
      "s/agent-b",
    ]);
    expect(new Set((await store.sessions.findMessage("m0")).map((key) => key.session_id))).toEqual(
      new Set(["s", "s/agent-a", "s/agent-b"]),
    );
  });
});

function eventsByMessage(events: readonly Event[]): Event[][] {
  const groups: Event[][] = [];
  for (const event of events) {
    if (event.kind === "message") groups.push([event]);
    else if (event.kind === "part") groups.at(-1)?.push(event);
  }
  return groups;
}

/** The same session in another place. */
function labelled(events: readonly Event[], project: string): Event[] {
  return events.map((event) =>
    event.kind === "session"
      ? { ...event, session: { ...event.session, project: sealExtracted(project) } }
      : event,
  );
}

/** As they stand with the messages of a session. */
async function projectsOf(store: TempStore, id: string): Promise<readonly string[]> {
  const rows = await store.sessions.tables.messages.scan({
    select: ["project"],
    where: eq("session_id", id),
  });
  return Array.from({ length: rows.length }, (_, row) => rows.string("project", row));
}

type Insert = () => Promise<{ readonly inserted: number }>;

/** The table, with something around each insert. */
function intercepted<S extends TableSpec>(
  table: RowTarget<S>,
  around: (insert: Insert) => ReturnType<Insert>,
): RowTarget<S> {
  return {
    spec: table.spec,
    batch: () => table.batch(),
    knownKeys: (values, place) => table.knownKeys(values, place),
    insert: (batch) => around(() => table.insert(batch)),
  };
}
