/** Two answers of a command, compared by value: every leaf under its path, after what accepted.ts lets differ. */
import { ADDED, NEW_CLIENTS, PASSED_OVER, RENAMED, REWORDED } from "./accepted.ts";
import type { Ended } from "./homes.ts";
import type { Report } from "./report.ts";
import { firstDifference } from "./rows.ts";

/** Texts that stand for what differs from one home, or one moment, to the next. */
export type Masks = readonly (readonly [string | RegExp, string])[];

/** Of one place or moment: never meant to be equal. */
const OF_THE_MACHINE: Masks = [[/^[\d.]+ [kMGT]?B are free/, "<free> are free"]];

export interface Asked {
  readonly verb: string;
  /** The command line, to name a difference by. */
  readonly command: string;
}

/** Compares exit codes and what was printed. Returns how many leaves there were. */
export function compareEnded(
  { verb, command }: Asked,
  [before, after]: readonly [{ ended: Ended; masks: Masks }, { ended: Ended; masks: Masks }],
  report: Report,
): number {
  if (before.ended.code !== after.ended.code)
    report.add(`${command}: exit ${before.ended.code} -> ${after.ended.code}`);
  const leaves = [before, after].map(({ ended, masks }, side) => {
    const all = new Map<string, string>();
    for (const [name, text] of [
      ["", ended.stdout],
      ["stderr:", ended.stderr],
    ] as const)
      for (const [path, value] of flatten(documentOf(text, side === 1)))
        all.set(...accept({ verb, path, value: mask(value, masks) }, side === 0, name));
    return all;
  });
  const [expected, found] = [leaves[0]!, leaves[1]!];
  for (const path of new Set([...expected.keys(), ...found.keys()])) {
    if (isListed(PASSED_OVER, verb, path)) continue;
    const [one, two] = [expected.get(path), found.get(path)];
    if (one === two || (one === undefined && isListed(ADDED, verb, path))) continue;
    report.add(`${command}: ${path}: ${firstDifference(one ?? "none", two ?? "none")}`, command);
  }
  return expected.size;
}

/** Its JSON value, or the text where it is none. */
function documentOf(text: string, isAfter: boolean): unknown {
  if (text.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isAfter ? withoutNewClients(value) : value;
  } catch {
    return text;
  }
}

function withoutNewClients(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !isNewClient(item)).map(withoutNewClients);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutNewClients(item)]));
}

const isNewClient = (item: unknown): boolean =>
  typeof item === "object" &&
  item !== null &&
  "adapter" in item &&
  NEW_CLIENTS.includes(String(item.adapter));

/** Every leaf with its path; an empty list or object is one. */
function* flatten(value: unknown, path = ""): Generator<readonly [string, unknown]> {
  if (value === undefined) return;
  if (value === null || typeof value !== "object" || Object.keys(value).length === 0) {
    yield [path, value];
    return;
  }
  for (const [key, item] of Object.entries(value))
    yield* flatten(item, Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`);
}

function mask(value: unknown, masks: Masks): unknown {
  if (typeof value !== "string") return value;
  return [...masks, ...OF_THE_MACHINE].reduce((text, [from, to]) => text.replaceAll(global(from), to), value);
}

const global = (from: string | RegExp): string | RegExp =>
  typeof from === "string"
    ? from
    : new RegExp(from, from.flags.includes("g") ? from.flags : `${from.flags}g`);

interface Leaf {
  readonly verb: string;
  readonly path: string;
  readonly value: unknown;
}

function accept({ verb, path, value }: Leaf, isBefore: boolean, stream: string): [string, string] {
  let [where, what] = [path, value];
  if (isBefore) {
    where = renamed(verb, path);
    for (const [from, to] of REWORDED)
      if (typeof what === "string")
        what = typeof from === "string" ? (what === from ? to : what) : what.replace(global(from), to);
  }
  return [stream + where, JSON.stringify(what)];
}

function renamed(verb: string, path: string): string {
  for (const [from, to] of Object.entries(RENAMED)) {
    const old = onPath(from, verb, path);
    if (old === undefined) continue;
    // Elements keep their numbers.
    const numbers = old.match(/\[\d+\]/g) ?? [];
    return to.replaceAll("[]", () => numbers.shift() ?? "[]") + path.slice(old.length);
  }
  return path;
}

const isListed = (list: readonly string[], verb: string, path: string): boolean =>
  list.some((entry) => onPath(entry, verb, path.replace(/^stderr:/, "")) !== undefined);

/** The beginning of the path that an entry "verb path" names, if it does. */
function onPath(entry: string, verb: string, path: string): string | undefined {
  const [entryVerb, entryPath = ""] = entry.split(" ");
  if (entryVerb !== "*" && entryVerb !== verb) return undefined;
  const pattern = entryPath.replaceAll(/[.*+?^${}()|\\]/g, "\\$&").replaceAll("[]", "\\[\\d+\\]");
  return new RegExp(`^${pattern}(?=$|[.[])`).exec(path)?.[0];
}
