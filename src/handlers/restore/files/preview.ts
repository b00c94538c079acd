/** What a restore would write, without writing anything: `pond restore --dry-run` (spec.md#adapter-restore-dry-run). */
import { printFile } from "../../../adapters/restore.ts";
import type { WrittenFile } from "../../../wire/restore.ts";
import type { Writing } from "./files.ts";
import type { Reuse } from "./present.ts";
import { presenceOf, targetsOf } from "./present.ts";

export async function previewFiles({
  out,
  files,
  mayBeLonger,
}: Pick<Writing<unknown>, "out" | "files"> & Reuse): Promise<readonly WrittenFile[]> {
  const preview: WrittenFile[] = [];
  for (const one of targetsOf(out, files)) {
    // Where nobody may look nothing is known to be in the way; that the folder is closed is told by itself.
    const presence = await presenceOf(one).catch(() => "absent" as const);
    const isKept = presence === "equal" || (presence === "longer" && mayBeLonger === true);
    preview.push({
      path: one.target,
      records: one.file.kind === "jsonl" ? one.file.records.length : 1,
      bytes: printFile(one.file).length,
      kept: isKept,
      ...(isKept || presence === "absent" ? {} : { is_in_the_way: true }),
    });
  }
  return preview;
}
