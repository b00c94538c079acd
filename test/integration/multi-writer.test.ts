/** Any number of writers at once leave exactly one copy of every row (spec.md#adapter-integrity-additive-sync). */
import { expect, test } from "vitest";
import { replay } from "../../src/model/events/index.ts";
import { sessionId } from "../../src/model/index.ts";
import { openSessionStore } from "../../src/sessions/index.ts";
import { azurite, isAzuriteInstalled } from "../support/azurite.ts";
import { startChild } from "../support/child.ts";
import { corpusSession } from "../support/corpus-sessions.ts";
import { tempDir } from "../support/temp-dir.ts";

const MESSAGES = 15;

test("five processes ingest the same and overlapping sessions at once", { timeout: 180_000 }, async () => {
  await using folder = await tempDir();
  await expectOneCopy({ url: folder.path, options: {} }, { writers: 5, sessions: 16 });
});

test("the same on Azure Blob (its emulator), four processes", { timeout: 300_000 }, async (context) => {
  if (!isAzuriteInstalled()) context.skip("azurite is not installed; run npm ci");
  await using folder = await tempDir();
  await using server = await azurite(folder.path);
  await expectOneCopy({ url: server.url, options: server.storageOptions }, { writers: 4, sessions: 3 });
});

interface Target {
  readonly url: string;
  readonly options: Readonly<Record<string, string>>;
}

async function expectOneCopy(
  { url, options }: Target,
  { writers, sessions }: { readonly writers: number; readonly sessions: number },
): Promise<void> {
  const children = Array.from({ length: writers }, (_, writer) => {
    // The same sessions in another order; every other writer has only half of each session.
    const order = Array.from({ length: sessions }, (__, index) => (index + writer) % sessions);
    const messages = writer % 2 === 0 ? MESSAGES : Math.ceil(MESSAGES / 2);
    return startChild("ingest-child.ts", { store: url, options, order, messages });
  });
  for (const child of children) expect(await child.ended).toEqual({ code: 0, stderr: "" });

  await using store = await openSessionStore({ url, namespace: "default", options }, { create: true });
  for (let index = 0; index < sessions; index++) {
    const [expected] = replay(corpusSession(index, MESSAGES));
    expect(await store.state(sessionId(`session-${index}`))).toEqual(expected);
  }
  const { sessions: rows, messages, parts } = store.tables;
  expect(await rows.count()).toBe(sessions);
  expect(await messages.count()).toBe(sessions * MESSAGES);
  expect(await parts.count()).toBe(sessions * MESSAGES);
}
