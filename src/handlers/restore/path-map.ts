/** Rules `old=new`: recorded folders rewritten for the machine that a session is restored on (spec.md#adapter-restore). */
import { PondError } from "../../base/errors.ts";
import { isFolder } from "../../base/files/folders.ts";
import { sentence } from "../../base/sentence.ts";
import { trimEndOf } from "../../base/text.ts";
import { namedPath } from "../sources/sources.ts";

export interface PathMap {
  readonly map: (path: string) => string;
  /** True once a path came out as another one. */
  readonly isUsed: () => boolean;
  /** The rules that no path needed so far, as they were given. */
  readonly unused: () => readonly string[];
  /** The rules that were used and lead to a folder that is not on this machine. */
  readonly missing: () => readonly MissingFolder[];
}

export interface MissingFolder {
  readonly rule: string;
  readonly folder: string;
}

/** The longest matching prefix wins; a prefix ends at a path separator. `new` is a folder of this machine, or of another kind of system. */
export function pathMap(rules: readonly string[], home: string): PathMap {
  const used = new Set<string>();
  const ordered = rules.map((rule) => ruleOf(rule, home)).toSorted((a, b) => b.from.length - a.from.length);
  return {
    map: (path) => {
      const found = ordered.find(
        ({ from }) => path === from || (path.startsWith(from) && /[/\\]/.test(path.charAt(from.length))),
      );
      if (found === undefined) return path;
      used.add(found.rule);
      const below = path === "/" ? "" : path.slice(found.from.length);
      return found.to + separated(below, found) || "/";
    },
    isUsed: () => used.size > 0,
    unused: () => rules.filter((rule) => !used.has(rule)),
    missing: () =>
      ordered.flatMap(({ rule, to }) =>
        used.has(rule) && !isWindows(to) && !isFolder(to || "/") ? [{ rule, folder: to }] : [],
      ),
  };
}

interface Rule {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

function ruleOf(rule: string, home: string): Rule {
  const cut = rule.indexOf("=");
  const [from, to] = [rule.slice(0, cut), rule.slice(cut + 1)];
  if (cut < 1 || to === "")
    throw new PondError("validation_failed", sentence`${{ field: "map_paths" }} ${rule} is not old=new`, {
      hint: sentence`for example ${{ field: "map_paths" }} /home/old/project=/home/new/project`,
      data: { field: "map_paths", value: rule },
    });
  const there = isWindows(to) ? to : namedPath(to, home);
  return { rule, from: trimEndOf(from, "/\\"), to: trimEndOf(there, "/\\") };
}

/** What is below the folder, in the separators of the system it goes to. */
function separated(below: string, { from, to }: Rule): string {
  if (isWindows(from) === isWindows(to)) return below;
  return isWindows(to) ? below.replaceAll("/", "\\") : below.replaceAll("\\", "/");
}

const isWindows = (path: string): boolean => /^(?:[A-Za-z]:(?:[/\\]|$)|\\\\)/.test(path);
