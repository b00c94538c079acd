/** A lineage of no client that pond knows, and its restore as the handler does it, without a store. */
import type { Adapter, Lineage } from "../../src/adapters/index.ts";
import { adapters } from "../../src/adapters/index.ts";
import { checkRestored } from "../../src/handlers/restore/check.ts";
import { writeFiles } from "../../src/handlers/restore/files/files.ts";
import { replay } from "../../src/model/events/index.ts";
import { lineagesOf, NOWHERE } from "./adapter-run.ts";
import { story } from "./story.ts";
import type { WrittenFile } from "../../src/wire/restore.ts";

/** A session with two subagents: texts, calls, results, a failure and a call that was never answered. */
export function smallLineage(): Lineage {
  const agent = "elsewhere";
  const child = { agent: "elsewhere/explorer", parent: "root", relation: "spawn" } as const;
  const events = [
    story("root", { agent })
      .user("What is in  this folder?\n\nAnd why?")
      .assistant("I will look.")
      .call("list", { path: "/srv", depth: 2 }, { call: "c1" })
      .result("list", "a\nb\n", { call: "c1" })
      .call("read", { path: "/srv/a" }, { call: "c2" })
      .result("read", "no such file", { call: "c2", failed: true })
      .assistant("Two files.")
      .user("Go on.")
      .call("wait", {}, { call: "c3" }),
    story("left", child).user("Look left.").assistant("Nothing there."),
    story("right", child).user("Look right.").assistant("Nothing there either."),
  ].flatMap((one) => one.events());
  const [lineage] = lineagesOf(replay(events));
  if (lineage === undefined) throw new Error("no lineage");
  return lineage;
}

export async function restoreInto(
  adapter: Adapter,
  lineage: Lineage,
  { out, now = Date.UTC(2027, 0, 1) }: { readonly out: string; readonly now?: number },
): Promise<readonly WrittenFile[]> {
  if (adapter.restore.kind !== "supported") throw new Error("nothing to restore");
  const fidelity = lineage.state.session.source_agent.startsWith(adapter.name) ? "native" : "foreign";
  const options = { fidelity, layout: "client", mapPath: (path: string) => path, now } as const;
  const restored = await adapter.restore.serialize(lineage, options);
  const written = await writeFiles({
    out,
    files: restored.files,
    last: restored.logs.find(({ session }) => session === lineage.state.session.id)?.path,
    check: (staged) => checkRestored(staged, { adapter, machine: NOWHERE, lineage, restored, now }),
    signal: new AbortController().signal,
  });
  return written.files;
}

/** The clients that sessions of others can be restored into. */
export function foreignTargets(): readonly Adapter[] {
  return adapters().filter(
    ({ restore }) => restore.kind === "supported" && restore.insteadOfForeign === undefined,
  );
}
