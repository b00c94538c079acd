/** Which `POND_*` variables stand for which settings. Pure. */
import { FIELDS, segments, variableOf } from "./schema.ts";
import type { Field } from "./schema.ts";

export interface Variable {
  readonly name: string;
  readonly text: string;
  readonly field: Field;
  readonly path: readonly string[];
}

/** Names the configuration file; no setting of the file itself. */
export const CONFIG_VARIABLE = "POND_CONFIG";

export interface Variables {
  readonly known: readonly Variable[];
  readonly unknown: readonly string[];
}

/** An empty variable counts as not set. */
export function readVariables(env: Readonly<Record<string, string | undefined>>): Variables {
  const known: Variable[] = [];
  const unknown: string[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith("POND_") || name === CONFIG_VARIABLE || text === undefined || text === "") continue;
    const found = settingOf(name);
    if (found === undefined) unknown.push(name);
    else known.push({ name, text, ...found });
  }
  return { known, unknown };
}

function settingOf(name: string): Pick<Variable, "field" | "path"> | undefined {
  for (const field of FIELDS) {
    const [before = "", after] = variableOf(field).split("<NAME>");
    if (after === undefined) {
      if (name === before) return { field, path: segments(field.key) };
      continue;
    }
    if (!name.startsWith(before) || !name.endsWith(after) || name.length <= before.length + after.length)
      continue;
    const middle = name.slice(before.length, name.length - after.length).toLowerCase();
    // Adapters are named with dashes, which a variable's name cannot have; options of object stores are not.
    const own = field.key.startsWith("adapters.") ? middle.replaceAll("_", "-") : middle;
    return { field, path: segments(field.key).map((part) => (part === "*" ? own : part)) };
  }
  return undefined;
}
