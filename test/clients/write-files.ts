/** Puts restored files where a client looks for them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Restored } from "../../src/adapters/seam/index.ts";
import { isRawLine } from "../../src/adapters/seam/index.ts";
import { stringifyJson } from "../../src/base/json.ts";

export function writeRestored({ files }: Restored, root: string): void {
  for (const file of files) {
    const path = join(root, file.path);
    mkdirSync(dirname(path), { recursive: true });
    if (file.kind === "bytes") writeFileSync(path, file.data);
    else if (file.kind === "json") writeFileSync(path, stringifyJson(file.value));
    else
      writeFileSync(
        path,
        Buffer.concat(
          file.records.flatMap((record) => [
            isRawLine(record) ? record.raw : Buffer.from(stringifyJson(record)),
            Buffer.from("\n"),
          ]),
        ),
      );
  }
}
