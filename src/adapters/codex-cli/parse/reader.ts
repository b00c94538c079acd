/** The parse face: a rollout, or the names of threads, whatever the unit is (spec.md#adapter-codec). */
import { basename } from "node:path";
import type { AdapterYield, PlacedRequest, Unit } from "../../kit/sources/index.ts";
import { isSameStamp } from "../../kit/files/index.ts";
import { untilUnreadable } from "../../kit/log/index.ts";
import { cursorFor } from "./checkpoint.ts";
import { ADAPTER, SESSION_INDEX } from "../layout.ts";
import { readRollout } from "./rollout.ts";
import { readThreadNames } from "./thread-names.ts";

/** Nothing for what cannot have changed. */
export async function* read(unit: Unit, request: PlacedRequest): AsyncGenerator<readonly AdapterYield[]> {
  if (unit.files.every((stamp) => isSameStamp(stamp, cursorFor(unit, request)))) return;
  const readUnit = basename(unit.key) === SESSION_INDEX ? readThreadNames : readRollout;
  yield* untilUnreadable(readUnit(unit, request), unit, { adapter: ADAPTER, signal: request.signal });
}
