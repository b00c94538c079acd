/**
 * Foreign restores against golden files (spec.md#adapter-conformance): what a session of one client becomes in
 * another, record by record, with its losses. `vitest -u` writes them anew; the difference is what a review reads.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { RestoredFile } from "../../src/adapters/restore.ts";
import { isRawLine } from "../../src/adapters/kit/files/index.ts";
import { stringifyJson } from "../../src/base/json/json.ts";
import { shellLine } from "../../src/base/shell.ts";
import { replay } from "../../src/model/events/index.ts";
import { lineagesOf, readFolder } from "../support/adapter-run.ts";

export interface ForeignPair {
  readonly from: string;
  /** The place in the fixtures of that client. */
  readonly place: string;
  /** A session without a parent, restored with its descendants. */
  readonly session: string;
  readonly to: string;
}

/** Long after the fixtures were made: some clients name files by time. */
const NOW = Date.UTC(2027, 0, 1);

export function foreignGolden({ from, place, session, to }: ForeignPair): void {
  test(`${from} to ${to} gives the golden files`, async () => {
    const root = join(import.meta.dirname, "../fixtures/adapters", from, place);
    const events = (await readFolder(adapterNamed(from)!, root)).flatMap((run) => run.events);
    const lineage = lineagesOf(replay(events)).find(({ state }) => state.session.id === session);
    const [origin, target] = [adapterNamed(from)!, adapterNamed(to)!];
    const context = origin.restore.kind === "supported" ? await origin.restore.context?.() : undefined;
    if (lineage === undefined || target.restore.kind !== "supported") throw new Error("nothing to restore");
    const options = {
      fidelity: "foreign",
      layout: "client",
      mapPath: (path: string) => path,
      now: NOW,
      context,
    } as const;
    const { files, losses, resume } = await target.restore.serialize(lineage, options);
    const lost = losses.map(
      ({ what, why, count, affects }) => `lost to the ${affects}: ${count} ${what} (${why})`,
    );
    const imports = resume.imports?.files.map((file) => shellLine([...resume.imports!.words, file])) ?? [];
    const text = [
      `resume: ${[...imports, shellLine(resume.words)].join(" && ")}`,
      ...lost,
      ...files.flatMap(print),
    ].join("\n");
    await expect(`${text}\n`).toMatchFileSnapshot(
      join(import.meta.dirname, "golden", `${from}-to-${to}.txt`),
    );
  });
}

function print(file: RestoredFile): string[] {
  const title = `\n== ${file.path}`;
  if (file.kind === "bytes") return [title, `${file.data.length} bytes`];
  if (file.kind === "json") return [title, JSON.stringify(file.value, null, 1)];
  if (file.kind === "rows") throw new Error("a database is never restored for a client");
  return [
    title,
    ...file.records.map((record) =>
      isRawLine(record) ? `raw ${record.raw.length} bytes` : stringifyJson(record),
    ),
  ];
}
