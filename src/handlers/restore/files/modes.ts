/**
 * Who may read what a restore makes (spec.md#keep-private): its user, and whom the client lets read its own files there. Of
 * several that stand beside each other the strictest counts.
 */
import { lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, extname, join } from "node:path";

export interface Modes {
  readonly file: number;
  readonly folder: number;
}

const PRIVATE: Modes = { file: 0o600, folder: 0o700 };

/** What others may be given: never to write where everybody can. */
const OTHERS = 0o075;

export interface Placed {
  /** The folder that is restored into. */
  readonly out: string;
  /** True where that is the client's own place: then its folders count, whatever is in them. */
  readonly isClients: boolean;
}

/** How a file is to be made, with the folders on the way to it. */
export function modesFor(target: string, { out, isClients }: Placed): Modes {
  const nearest = process.platform === "win32" ? undefined : nearestFolder(dirname(target), out);
  if (nearest === undefined) return PRIVATE;
  const beside = readdirSync(nearest, { withFileTypes: true })
    .filter((entry) => entry.isFile() && extname(entry.name) === extname(target))
    .map(({ name }) => lstatSync(join(nearest, name)).mode);
  const isTheirs = isClients || beside.length > 0;
  const readable = beside.length === 0 ? 0 : beside.reduce((all, mode) => all & mode, OTHERS & 0o066);
  return {
    // Folders say nothing of files: Claude Code keeps private ones in folders that everybody can enter.
    file: PRIVATE.file | readable,
    folder: PRIVATE.folder | (isTheirs ? statSync(nearest).mode & OTHERS : 0),
  };
}

/** The one that is there, from a folder up to the target's own. */
function nearestFolder(folder: string, out: string): string | undefined {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  return folder.length <= out.length ? undefined : nearestFolder(dirname(folder), out);
}
