/**
 * What a model thought, in the requests of the real clients (spec.md#adapter-restore-losses): its own client sends it again,
 * or does not; no other one is ever sent it, neither as thoughts nor as text. A restore reports as lost to the model what
 * its own client would have sent, each thought once, and the rest as a loss to the record.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Lineage } from "../../src/adapters/index.ts";
import type { Loss } from "../../src/adapters/restore.ts";
import { replay } from "../../src/model/events/index.ts";
import { lineagesOf, readFolder } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import { claudeCode, codexCli, goOn, isMissing, opencode, pi, PROMPT, restoreFor } from "./real-clients.ts";
import { sentBy } from "./requests.ts";
import { THOUGHTS } from "./thoughts.ts";
import type { Thoughts } from "./thoughts.ts";

const CLIENTS = [claudeCode, codexCli, opencode, pi];

describe.each(THOUGHTS)("what $client with a model of $model.provider thought", (session) => {
  const { sent, unsent } = session;
  const source = CLIENTS.find(({ adapter }) => adapter === session.client)!;

  test.skipIf(isMissing(source))("is sent again by itself, as far as it ever is", async () => {
    await using box = await tempDir();
    const lineage = await lineageOf(session, join(box.path, "read"));
    const going = { folder: join(box.path, "own"), fidelity: "native", model: session.model } as const;
    const run = await goOn(source, lineage, going);
    const request = sentBy(run, PROMPT);
    const all = JSON.stringify(request);
    expect(sent.flat().filter((mark) => !all.includes(mark))).toEqual([]);
    expect(unsent.filter((mark) => all.includes(mark))).toEqual([]);
    expect(run.restored.losses).toEqual([]);
  });

  for (const target of CLIENTS.filter((client) => client !== source))
    test.skipIf(isMissing(target))(`never reaches ${target.adapter}, which is reported`, async () => {
      await using box = await tempDir();
      const lineage = await lineageOf(session, join(box.path, "read"));
      const going = { folder: join(box.path, "other"), fidelity: "foreign" } as const;
      const { losses } = await restoreFor(target, lineage, going);
      expect(countOf(losses, "model")).toEqual({ reasoning: sent.length });
      expect(countOf(losses, "record").reasoning ?? 0).toBe(unsent.length + session.blank);
      // What a target is sent does not depend on whose thoughts they were.
      if (session !== THOUGHTS.find(({ client }) => client === session.client)) return;
      const request = sentBy(await goOn(target, lineage, going), PROMPT);
      const all = JSON.stringify(request);
      expect([...sent.flat(), ...unsent].filter((mark) => all.includes(mark))).toEqual([]);
      expect(request.filter(({ kind }) => kind === "reasoning")).toEqual([]);
      // What was said around them is there.
      for (const text of ["Think aloud", "I look.", "a.txt", "One file."]) expect(all).toContain(text);
    });
});

async function lineageOf({ client, path, text }: Thoughts, root: string): Promise<Lineage> {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  const runs = await readFolder(adapterNamed(client)!, root);
  expect(runs.flatMap(({ issues }) => issues)).toEqual([]);
  return lineagesOf(replay(runs.flatMap(({ events }) => events)))[0]!;
}

function countOf(losses: readonly Loss[], whom: Loss["affects"]): Partial<Record<Loss["what"], number>> {
  const counts: Partial<Record<Loss["what"], number>> = {};
  for (const { what, count, affects } of losses)
    if (affects === whom) counts[what] = (counts[what] ?? 0) + count;
  return counts;
}
