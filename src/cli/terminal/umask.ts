/** Whom the process lets read what it makes: its user alone (spec.md#keep-private), except in a client that it starts. */

const PRIVATE = 0o077;

/** As the process was started. */
let inherited: number | undefined;

/** The engine's files, too: they are made by the process's own mask. */
export function keepPrivate(): void {
  inherited ??= process.umask(PRIVATE);
}

/** Runs with the mask of the person who called: a client's files are none of pond's. */
export function withInheritedMask<T>(run: () => T): T {
  if (inherited === undefined) return run();
  process.umask(inherited);
  try {
    return run();
  } finally {
    process.umask(PRIVATE);
  }
}
