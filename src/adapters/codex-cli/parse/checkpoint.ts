/** Where a read stopped (spec.md#sync-cursors). The key is the unit's, so that it survives the client's compression. */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { AdapterYield, FileCursor, ReadRequest, Unit } from "../../kit/sources/index.ts";
import { fileCursor } from "../../kit/sources/index.ts";

/** How far a read came. */
export interface Reached {
  readonly offset: number;
  /** Hash of the bytes right before the offset. */
  readonly tail: string;
  /** True when the last record waits for the next one: the file must not look fresh then. */
  readonly isUnsettled?: boolean;
  /** True when the record before the offset was placed without the one that settles it. */
  readonly isAlone?: boolean;
  /** What the next read is to know of the session that the file holds. */
  readonly state?: JsonObject;
  /** What is to be known of it to go on (spec.md#sync-prefix). */
  readonly prefix?: JsonValue | undefined;
}

const ALONE = "alone";

/** For a file that is only ever read as a whole. */
export const START: Reached = { offset: 0, tail: "" };

export function cursorFor(unit: Unit, request: ReadRequest): FileCursor | undefined {
  return request.cursor?.files[unit.key];
}

/** True when the last committed record was told as if nothing came behind it. */
export function endsAlone({ cursor }: ReadRequest): boolean {
  return isJsonObject(cursor?.state) && cursor.state[ALONE] === true;
}

/** Everything before the offset is committed with what was yielded so far. Stamps are those from before the read. */
export function checkpoint(unit: Unit, reached: Reached): AdapterYield {
  const { offset, tail, isUnsettled = false, isAlone = false, state, prefix } = reached;
  const files: Record<string, FileCursor> = {};
  for (const stamp of unit.files) files[unit.key] = fileCursor(stamp, { offset, tail, isUnsettled });
  const known = { ...state, ...(isAlone ? { [ALONE]: true } : {}) };
  const cursor = Object.keys(known).length === 0 ? { files } : { files, state: known };
  return { kind: "checkpoint", cursor, prefix };
}
