/** Puts restored files where a client looks for them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Restored } from "../../src/adapters/seam/index.ts";
import { printFile } from "../../src/adapters/seam/index.ts";

export function writeRestored({ files }: Restored, root: string): void {
  for (const file of files) {
    const path = join(root, file.path);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, printFile(file));
  }
}
