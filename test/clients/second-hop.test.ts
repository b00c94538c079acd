/**
 * What goes along at every further hop (spec.md#adapter-restore-context): a session that pond restored into a client, carried on
 * there by the client itself and synced, continued in that client and, restored once more, in the next one. The two requests
 * say the same, and what is missing is what the restore reported as lost to the model.
 */
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Lineage } from "../../src/adapters/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/index.ts";
import { createContext, restore, sync } from "../../src/handlers/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { sessionId } from "../../src/model/index.ts";
import { lineagesOf, readFolder } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import { compareRequests } from "./compare-requests.ts";
import type { RealClient } from "./real-clients.ts";
import { claudeCode, codexCli, goOn, isMissing, opencode, pi, PROMPT } from "./real-clients.ts";
import { lackingIn, reportedAsLost } from "./reported.ts";
import { sentBy } from "./requests.ts";

const OWN: ReadonlySet<string> = new Set(["instructions from its client", "note from its client"]);
const FIXTURES = join(import.meta.dirname, "../fixtures/handing-over");

const CHAINS: readonly (readonly [
  source: RealClient,
  middle: RealClient,
  target: RealClient,
  texts: string[],
])[] = [
  [claudeCode, codexCli, pi, ["found tulips", "found herbs", "A hook says to be brief", "ten roses"]],
  [claudeCode, opencode, codexCli, ["found tulips", "found herbs", "A hook says to be brief", "ten roses"]],
  [opencode, pi, claudeCode, ["found tulips"]],
  [codexCli, claudeCode, opencode, ["found tulips"]],
];

for (const [source, middle, target, texts] of CHAINS)
  test.skipIf([source, middle, target].some(isMissing))(
    `a session of ${source.adapter} that went on in ${middle.adapter} continues in ${target.adapter}`,
    async () => {
      await using box = await tempDir();
      const lineage = await carriedOn(source, middle, box.path);
      const [own, other] = [join(box.path, "own"), join(box.path, "other")];
      const before = sentBy(await goOn(middle, lineage, { folder: own, fidelity: "native" }), PROMPT);
      const run = await goOn(target, lineage, { folder: other, fidelity: "foreign" });
      const after = sentBy(run, PROMPT);
      const said = after.flatMap((one) => (one.kind === "text" ? [one.text] : [])).join("\n");
      for (const text of texts) expect(said).toContain(text);
      const difference = compareRequests(before, after);
      expect(difference.added).toEqual([]);
      // What each client writes anew for its own model is no part of the comparison.
      const losses = run.restored.losses.filter(({ what }) => !OWN.has(what));
      const lost = reportedAsLost(losses);
      const found = lackingIn(difference);
      // The texts are shown where the numbers differ.
      expect(isDeepStrictEqual(found, lost) ? lost : { ...found, missing: difference.missing }).toEqual(lost);
    },
  );

/** Restored by pond into a client, continued there and synced. */
async function carriedOn(source: RealClient, middle: RealClient, folder: string): Promise<Lineage> {
  const home = join(folder, "home");
  const machine = {
    env: { POND_STORE: join(folder, "store") },
    home,
    platform: "linux" as const,
    cwd: folder,
  };
  const context = createContext({
    config: await loadConfig({ environment: machine }),
    machine,
    signal: new AbortController().signal,
  });
  const store = await context.store();
  const runs = await readFolder(adapterNamed(source.adapter)!, join(FIXTURES, source.adapter));
  const events = runs.flatMap((run) => run.events);
  const ingest = store.ingest({ clock: systemClock });
  await ingest.add(events);
  await ingest.flush();
  const lineage = lineagesOf(replay(events))[0]!;
  const { id, project } = lineage.state.session;
  const map_paths = [`${project}=${join(folder, "demo.app")}`];
  const { resume } = await restore(context, { session_id: id, to: middle.adapter, map_paths });
  await goOn(middle, lineage, { folder, fidelity: "foreign" });
  await sync(context, {});
  const state = await store.state(sessionId(resume.id));
  return { state: state!, children: [] };
}
