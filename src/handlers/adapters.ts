/** `adapters`: every client pond knows, where it keeps sessions here, and how much is there. Opens no file. */
import type { Issue } from "../adapters/index.ts";
import { adapters } from "../adapters/registry.ts";
import { isoTime } from "../base/clock.ts";
import type { Context } from "./context.ts";
import type { SourceFilter } from "./sources.ts";
import { findSources } from "./sources.ts";
import { sweepSources } from "./sweep.ts";

export interface AdapterReport {
  readonly adapter: string;
  readonly title: string;
  readonly enabled: boolean;
  readonly restore: "supported" | "unsupported";
  readonly places: readonly { readonly path: string; readonly origin: string }[];
  readonly files: number;
  readonly bytes: number;
  /** The newest change; absent when nothing was found. */
  readonly newest?: string;
  /** What could not be looked at. */
  readonly issues: readonly Issue[];
}

export async function listAdapters(
  context: Context,
  filter: SourceFilter = {},
): Promise<readonly AdapterReport[]> {
  const sweeps = await sweepSources(context, filter, undefined);
  const found = await findSources(context, filter);
  const chosen = adapters().filter(({ name }) => found.some(({ adapter }) => adapter.name === name));
  return chosen.map((adapter) => {
    const source = found.find((candidate) => candidate.adapter.name === adapter.name);
    const sweep = sweeps.find((candidate) => candidate.adapter.name === adapter.name);
    const newest = sweep === undefined || sweep.newest === 0 ? undefined : isoTime(sweep.newest);
    return {
      adapter: adapter.name,
      title: adapter.title,
      enabled: source?.enabled ?? true,
      restore: adapter.restore.kind,
      places: (source?.places ?? []).flatMap(({ root, files, origin }) =>
        (files ?? [root]).map((path) => ({ path, origin })),
      ),
      files: sweep?.seen ?? 0,
      bytes: sweep?.bytes ?? 0,
      ...(newest === undefined ? {} : { newest }),
      issues: sweep?.issues ?? [],
    };
  });
}
