/**
 * Restores that were broken off, and lineages whose children are stored twice (issue 12, items 11 and 14): through the
 * store, as the command does it.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import { restore } from "../../src/handlers/index.ts";
import type { Event } from "../../src/model/index.ts";
import type { SessionState } from "../../src/model/events/index.ts";
import { eventsOf, replay } from "../../src/model/events/index.ts";
import { sessionId } from "../../src/model/index.ts";
import { lineagesOf, readFolder } from "../support/adapter-run.ts";
import { tempContext } from "../support/temp-context.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/adapters");
const PLACES = { "claude-code": "projects", "codex-cli": "home", opencode: "data", pi: "sessions" };

/** Parents with their children, of a client's fixture. */
async function families(client: string, place: string): Promise<readonly (readonly SessionState[])[]> {
  const runs = await readFolder(adapterNamed(client)!, join(FIXTURES, client, place));
  const states = replay(runs.flatMap(({ events }) => events));
  return lineagesOf(states)
    .map(({ state, children }) => [state, ...children.map((child) => child.state)])
    .filter(({ length }) => length > 1);
}

/** The session as another source told it: under an id of its own, from the same path below its place. */
function copyOf({ session, messages }: SessionState, isWhole: boolean): SessionState {
  const id = sessionId(`${session.id}@01234567`);
  const source = session.options["source"] as object;
  const options = { ...session.options, source: { session_id: session.id, ...source } };
  const last = Math.max(...messages.map(({ message }) => message.seq ?? 0));
  const kept = messages.filter(({ message }) => isWhole || message.seq !== last);
  return {
    session: { ...session, id, options },
    messages: kept.map(({ message, parts }) => ({
      message: { ...message, session_id: id },
      parts: parts.map((part) => ({ ...part, session_id: id })),
    })),
  };
}

const told = (states: readonly SessionState[]): Event[] => states.flatMap((state) => [...eventsOf(state)]);

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();
}

describe.each(Object.entries(PLACES))("%s", (client, place) => {
  test("a restore of which a part is there is completed, and only a whole one is refused", async () => {
    await using temp = await tempContext();
    const [family] = await families(client, place);
    const [parent, ...children] = family!;
    await temp.ingest(told(family!));
    const out = join(temp.home, "out");
    const request = { session_id: parent!.session.id, to: client, out };
    const first = await restore(temp.context, request);
    expect(first.sessions).toBe(1 + children.length);
    const all = filesIn(out);
    await expect(restore(temp.context, request)).rejects.toMatchObject({ reason: "exists" });
    rmSync(first.files[0]!.path);
    const second = await restore(temp.context, request);
    expect(second.files.filter(({ kept }) => !kept).map(({ path }) => path)).toEqual([first.files[0]!.path]);
    expect(filesIn(out)).toEqual(all);
  });

  test.each([
    ["equal", true],
    ["shorter", false],
  ])("a parent whose children are stored twice, the second time %s, is restored", async (_, isWhole) => {
    await using temp = await tempContext();
    const [family = []] = await families(client, place);
    const [parent, ...children] = family;
    const copies = children.map((state) => copyOf(state, isWhole));
    await temp.ingest(told(family));
    const once = await restore(temp.context, {
      session_id: parent!.session.id,
      to: client,
      out: join(temp.home, "once"),
    });
    await temp.ingest(told(copies));
    const out = join(temp.home, "out");
    const report = await restore(temp.context, { session_id: parent!.session.id, to: client, out });
    expect(report.sessions).toBe(1 + 2 * children.length);
    expect(filesIn(out)).toHaveLength(report.files.length);
    const beside = filesIn(out).filter((path) => path.includes("@"));
    expect([beside.length, report.files.length]).toEqual(
      isWhole ? [0, once.files.length] : [children.length, once.files.length + children.length],
    );
  });
});
