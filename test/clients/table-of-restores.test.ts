/**
 * The table of restores (spec.md#adapter-restore-context): a session of each client that was compacted, with pictures, with a
 * report of a background agent and with results away from their calls, continued in its own client and, restored, in every
 * other one. The two requests say the same, and what is missing is what the restore reported as lost to the model.
 */
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Lineage } from "../../src/adapters/index.ts";
import { replay } from "../../src/model/index.ts";
import { lineagesOf, readFolder } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import { compareRequests } from "./compare-requests.ts";
import type { RealClient } from "./real-clients.ts";
import { claudeCode, codexCli, goOn, isMissing, opencode, pi, PROMPT } from "./real-clients.ts";
import { kinds, lackingIn, reportedAsLost } from "./reported.ts";
import type { Sent } from "./requests.ts";
import { sentBy } from "./requests.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/handing-over");
const CLIENTS = [claudeCode, codexCli, opencode, pi];

/** What each session has behind its compaction. */
const HISTORY: Readonly<Record<string, { readonly calls: number; readonly reports: readonly string[] }>> = {
  "claude-code": {
    calls: 3,
    reports: ["found tulips", "found herbs", "A hook says to be brief", "ten roses"],
  },
  "codex-cli": { calls: 4, reports: ["found tulips"] },
  opencode: { calls: 3, reports: ["found tulips"] },
  pi: { calls: 3, reports: ["found tulips"] },
};

describe.each(CLIENTS)("a session of $adapter", (source) => {
  let original: readonly Sent[] | undefined;

  /** Once for all targets. */
  const requestOf = async (lineage: Lineage): Promise<readonly Sent[]> => {
    if (original !== undefined) return original;
    await using box = await tempDir();
    original = sentBy(await goOn(source, lineage, { folder: box.path, fidelity: "native" }), PROMPT);
    return original;
  };

  test.skipIf(isMissing(source))("shows in its own client what it is to show", async () => {
    const sent = await requestOf(await sessionOf(source));
    const texts = sent.flatMap((one) => (one.kind === "text" ? [one.text] : [])).join("\n");
    const { calls, reports } = HISTORY[source.adapter]!;
    for (const text of ["summary of roses", "Kept question", "Between the calls", ...reports])
      expect(texts).toContain(text);
    expect(texts).not.toContain("Dropped");
    expect(kinds(sent)).toMatchObject({ call: calls, result: calls, image: 2, reasoning: 1 });
  });

  const others = CLIENTS.filter((client) => client !== source);
  for (const target of others)
    test.skipIf(isMissing(source) || isMissing(target))(
      `continues in ${target.adapter} with what its model had, without what the restore reports`,
      async () => {
        await using box = await tempDir();
        const lineage = await sessionOf(source);
        const run = await goOn(target, lineage, { folder: box.path, fidelity: "foreign" });
        const difference = compareRequests(await requestOf(lineage), sentBy(run, PROMPT));
        const { missing, added, misplaced } = difference;
        expect(added).toEqual([]);
        // Codex has the summary behind the prompts that it kept; all others have it first.
        expect(
          misplaced.filter((one) => one.kind !== "text" || !one.text.includes("summary of roses")),
        ).toEqual([]);
        const lost = reportedAsLost(run.restored.losses);
        const found = lackingIn(difference);
        // The texts are shown where the numbers differ.
        expect(isDeepStrictEqual(found, lost) ? lost : { ...found, missing }).toEqual(lost);
      },
    );
});

async function sessionOf({ adapter }: RealClient): Promise<Lineage> {
  const runs = await readFolder(adapterNamed(adapter)!, join(FIXTURES, adapter));
  return lineagesOf(replay(runs.flatMap(({ events }) => events)))[0]!;
}
