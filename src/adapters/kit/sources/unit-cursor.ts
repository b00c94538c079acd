/** The cursor of a unit that is read as a whole whenever one of its files changed (spec.md#sync-change-detection). */
import type { JsonValue } from "../../../base/json/json.ts";
import { optional } from "../../../base/optional.ts";
import { isSameStamp } from "../files/stamp.ts";
import { keysBelow } from "./discovery.ts";
import type { Cursor } from "./freshness.ts";
import { fileCursor } from "./freshness.ts";
import type { PlacedRequest, Unit } from "./reading.ts";

/** True when nothing of the unit can have changed since the cursor was taken. */
export function isFresh(unit: Unit, { place, cursor }: Pick<PlacedRequest, "place" | "cursor">): boolean {
  const known = cursor?.files ?? {};
  const keyOf = keysBelow(place.path);
  return (
    Object.keys(known).length === unit.files.length &&
    unit.files.every((file) => isSameStamp(file, known[keyOf(file.path)]))
  );
}

/** The cursor after a read. One that held something back names no file, so that the unit is never fresh. */
export function cursorOf(
  unit: Unit,
  { place }: Pick<PlacedRequest, "place">,
  after: { readonly held: boolean; readonly state?: JsonValue },
): Cursor {
  const keyOf = keysBelow(place.path);
  const files = after.held ? [] : unit.files.map((file) => [keyOf(file.path), fileCursor(file)] as const);
  return { files: Object.fromEntries(files), ...optional("state", after.state) };
}
