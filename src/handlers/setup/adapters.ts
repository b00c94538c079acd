/** `adapters`: every client pond knows, where it keeps sessions here, and how much is there. Opens no file. */
import type { Adapter, Place } from "../../adapters/index.ts";
import { clientsOf } from "../../adapters/registry.ts";
import { isoTime } from "../../base/clock.ts";
import type { AdapterReport, PlaceReport } from "../../wire/setup.ts";
import type { SourceFilter } from "../../wire/sources.ts";
import type { Context } from "../context/context.ts";
import { findSources } from "../sources/sources.ts";
import { sweepSources } from "../sources/sweep.ts";

export async function listAdapters(
  context: Context,
  filter: SourceFilter = {},
): Promise<readonly AdapterReport[]> {
  await using sweeps = await sweepSources(context, filter, undefined);
  const found = await findSources(context, filter);
  const chosen = clientsOf(context).filter(({ name }) => found.some(({ adapter }) => adapter.name === name));
  return chosen.map((adapter) => {
    const source = found.find((candidate) => candidate.adapter.name === adapter.name);
    const sweep = sweeps.clients.find((candidate) => candidate.adapter.name === adapter.name);
    const configured = isConfigured(context, adapter) ? "config" : undefined;
    const namedBy = filter.paths === undefined ? configured : "request";
    const places = reportOf(source?.places ?? [], namedBy);
    // What the settings name is an issue where it is not there.
    const isDefault = source?.enabled === true && namedBy === undefined;
    const wanted = isDefault ? reportOf(source.own) : [];
    const newest = sweep === undefined || sweep.newest === 0 ? undefined : isoTime(sweep.newest);
    return {
      adapter: adapter.name,
      title: adapter.title,
      enabled: source?.enabled ?? true,
      restore: restoreOf(adapter),
      places,
      absent: wanted.filter(({ path }) => !places.some((place) => place.path === path)),
      files: sweep?.seen ?? 0,
      bytes: sweep?.bytes ?? 0,
      ...(newest === undefined ? {} : { newest }),
      issues: sweep?.issues ?? [],
    };
  });
}

/** What stands in a place of the client's own was named all the same, where `namedBy` says so. */
function reportOf(places: readonly Place[], namedBy?: Place["origin"]): readonly PlaceReport[] {
  return places.flatMap(({ path: place, files, within, origin, variable }) => {
    const paths = files ?? within?.map((path) => path.replace(/[/\\]$/, "")) ?? [place];
    const by =
      namedBy === undefined
        ? { origin, ...(variable === undefined ? {} : { variable }) }
        : { origin: namedBy };
    return paths.map((path) => ({ path, ...by }));
  });
}

function restoreOf({ restore }: Adapter): AdapterReport["restore"] {
  if (restore.kind === "unsupported") return "unsupported";
  return restore.insteadOfForeign === undefined ? "supported" : "own-sessions";
}

function isConfigured({ config }: Context, { name }: Adapter): boolean {
  return config.values.adapters?.[name]?.paths !== undefined;
}
