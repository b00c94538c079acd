/**
 * The table of restores (spec.md#adapter-restore-context): a session of each client that was compacted, with pictures, with
 * reports of a background agent and of a check, with what an editor shows, with results away from their calls and a call
 * beside the way back, continued in its own client and, restored, in every other one. The two requests say the same, and what is missing is what the restore reported as lost to the model.
 */
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Lineage } from "../../src/adapters/index.ts";
import { replay } from "../../src/model/events/index.ts";
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

interface Shown {
  readonly calls: number;
  readonly images: number;
  readonly texts: readonly string[];
}

/** What each session has behind its compaction: reports, pictures by their names, what an editor shows, a check. */
const HISTORY: Readonly<Record<string, Shown>> = {
  "claude-code": {
    calls: 5,
    images: 3,
    texts: [
      "found tulips",
      "found herbs",
      "A hook says to be brief",
      "ten roses",
      "green.png",
      "lines 3 to 4",
      "const lilies",
      "check of the hedges",
    ],
  },
  "codex-cli": { calls: 4, images: 3, texts: ["found tulips", "green.png", "const lilies"] },
  opencode: { calls: 3, images: 2, texts: ["found tulips"] },
  pi: { calls: 3, images: 3, texts: ["found tulips", "green.png"] },
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
    const { calls, images, texts: more } = HISTORY[source.adapter]!;
    for (const text of ["summary of roses", "Kept question", "Between the calls", ...more])
      expect(texts).toContain(text);
    expect(texts).not.toContain("Dropped");
    expect(kinds(sent)).toMatchObject({ call: calls, result: calls, image: images, reasoning: 1 });
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
