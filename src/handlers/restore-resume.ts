/** How a restored session is resumed in the client that it was written for, from the folder that it was written to. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import type { Resume } from "../adapters/index.ts";
import { tryParseJson } from "../base/json.ts";
import { shellLine } from "../base/shell.ts";
import { valueHash } from "../base/value-hash.ts";
import type { WrittenFile } from "./restore-files.ts";
import { insideOf } from "./restore-present.ts";

export interface ResumeReport {
  readonly id: string;
  readonly directory: string;
  /** What the session recorded, where that was mapped to `directory`. */
  readonly recorded_directory?: string;
  /** False where the session recorded no directory: then it is the name of its project, and any folder will do. */
  readonly is_path: boolean;
  /** The recorded directory is not on this machine: the client cannot be started there. */
  readonly is_directory_missing?: true;
  /** One line for a shell, from changing into the directory on. */
  readonly command: string;
  /** The same command by command, each word by word: what the client has to import, then the client itself. */
  readonly steps: readonly (readonly string[])[];
  /** Where the files have to be for the client to find them, when that is not where they are. */
  readonly copy_to?: string;
  /** Files that are there already, with other content: copying would overwrite them. */
  readonly in_the_way?: readonly string[];
}

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

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** True where there is a file with other content, however that is spelled. */
function isOther(target: string, path: string): boolean {
  const spelled = (file: string): string => readFileSync(file, "latin1").split("\n").map(valueOf).join("\n");
  return existsSync(target) && spelled(target) !== spelled(path);
}

function valueOf(line: string): string {
  const parsed = tryParseJson(line);
  return parsed.kind === "value" ? valueHash(parsed.value) : line;
}

/** A session without a working folder has the nearest scope as its project, which is none to change into. */
const isPath = (text: string): boolean => /^(?:[/~\\]|[A-Za-z]:[/\\])/.test(text);
