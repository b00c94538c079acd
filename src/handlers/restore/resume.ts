/** How a restored session is resumed in the client that it was written for, from the folder that it was written to. */
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Resume } from "../../adapters/restore.ts";
import { isFolder } from "../../base/files/folders.ts";
import { tryParseJson } from "../../base/json/json.ts";
import { shellLine } from "../../base/shell.ts";
import { valueHash } from "../../base/json/value-hash.ts";
import type { ResumeReport, WrittenFile } from "../../wire/restore.ts";
import { insideOf } from "./files/present.ts";

/** What the adapter says, for the folder that was written to. */
export function resumeIn(
  out: string,
  resume: Resume,
  written: {
    readonly files: readonly WrittenFile[];
    readonly place: string | undefined;
    readonly title: string;
    readonly recorded: string;
    /** Its client has imported it before. */
    readonly isImported: boolean;
    /** The log to open where the client does not find it by its id from the directory. */
    readonly openAt?: string | undefined;
  },
): ResumeReport {
  const { id, directory, imports } = resume;
  const { place, title, recorded, isImported, openAt } = written;
  const files = isImported ? [] : (imports?.files.map((file) => insideOf(out, file)) ?? []);
  const words =
    openAt === undefined || resume.byPath === undefined ? resume.words : [...resume.byPath, openAt];
  const steps = [...files.map((file) => [...(imports?.words ?? []), file]), words];
  const isFound = imports !== undefined || out === place;
  const is_path = isPath(directory);
  const entering = is_path ? [["cd", directory]] : [];
  const command = [...entering, ...steps].map(shellLine).join(" && ");
  const missing = {
    ...(recorded === directory || !isPath(recorded) ? {} : { recorded_directory: recorded }),
    ...(is_path && !isFolder(directory) ? { is_directory_missing: true as const } : {}),
  };
  if (isFound) return { id, directory, is_path, ...missing, command, steps };
  const inTheWay = written.files.flatMap(({ path }) => {
    const target = join(place ?? out, relative(out, path));
    return place !== undefined && isOther(target, path) ? [target] : [];
  });
  return {
    id,
    directory,
    is_path,
    ...missing,
    command,
    steps,
    copy_to: place ?? `the folder of ${title}`,
    ...(inTheWay.length === 0 ? {} : { in_the_way: inTheWay }),
  };
}

/** True where there is a file with other content, however that is spelled. */
function isOther(target: string, path: string): boolean {
  const normalized = (file: string): string =>
    readFileSync(file, "latin1").split("\n").map(valueOf).join("\n");
  return existsSync(target) && normalized(target) !== normalized(path);
}

function valueOf(line: string): string {
  const parsed = tryParseJson(line);
  return parsed.kind === "value" ? valueHash(parsed.value) : line;
}

/** A session without a working folder has the nearest scope as its project, which is none to change into. */
const isPath = (text: string): boolean => /^(?:[/~\\]|[A-Za-z]:[/\\])/.test(text);
