/** The parse face: a rollout, or the names of threads, whatever the unit is (spec.md#adapter-codec). */
import { basename } from "node:path";
import type { AdapterYield, ReadRequest, Unit } from "../seam/index.ts";
import { isSameStamp } from "../seam/index.ts";
import { cursorFor } from "./checkpoint.ts";
import { CODEX, SESSION_INDEX } from "./name.ts";
import { readRollout } from "./parse.ts";
import { readThreadNames } from "./thread-names.ts";

/** Nothing for what cannot have changed. A source that cannot be read is an issue of its own; the run goes on (spec.md#adapter-integrity-no-silent-drops). */
export async function* read(unit: Unit, request: ReadRequest): AsyncGenerator<readonly AdapterYield[]> {
  if (unit.files.every((stamp) => isSameStamp(stamp, cursorFor(unit, request)))) return;
  try {
    yield* basename(unit.key) === SESSION_INDEX ? readThreadNames(unit, request) : readRollout(unit, request);
  } catch (error) {
    request.signal?.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    const path = unit.files[0]?.path ?? unit.key;
    yield [{ kind: "issue", issue: { kind: "unreadable", adapter: CODEX, path, message } }];
  }
}
