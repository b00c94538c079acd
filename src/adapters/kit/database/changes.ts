/**
 * Where a read of opencode stopped (spec.md#sync-change-detection). A unit that holds something back is never fresh: its
 * cursor names no file. For a database the state says which sessions need not be read again, by digests of groups of
 * sessions, so that it stays short however many sessions there are. Only rows tell: the header's change counter stands
 * still when a client in WAL mode commits, closes and takes its log along.
 */
import { hash } from "node:crypto";
import { relative, sep } from "node:path";
import type { JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Cursor, FileCursor } from "../sources/freshness.ts";
import type { Place, PlacedRequest, Unit } from "../sources/reading.ts";
import { isSameStamp } from "../files/stamp.ts";
import { objectField } from "../extract/extract.ts";

const GROUPS = 512;
const DIGEST_LENGTH = 10;

/** True when nothing of the unit can have changed since the cursor was taken. */
export function isFresh(unit: Unit, { place, cursor }: Pick<PlacedRequest, "place" | "cursor">): boolean {
  const known = cursor?.files ?? {};
  return (
    Object.keys(known).length === unit.files.length &&
    unit.files.every((file) => isSameStamp(file, known[keyOf(place, file.path)]))
  );
}

/** The cursor after a read; the stamps are those from before it. */
export function cursorOf(
  unit: Unit,
  { place }: Pick<PlacedRequest, "place">,
  after: { readonly held: boolean; readonly state?: JsonValue },
): Cursor {
  const files = after.held
    ? []
    : unit.files.map((file) => [keyOf(place, file.path), fileCursor(file)] as const);
  return { files: Object.fromEntries(files), ...(after.state === undefined ? {} : { state: after.state }) };
}

function keyOf(place: Place, path: string): string {
  return relative(place.path, path).split(sep).join("/");
}

function fileCursor({ size, mtime, inode, device }: Unit["files"][number]): FileCursor {
  return { size, mtime, inode, device, offset: 0, tail: "" };
}

/** The digest of each group of sessions that the last read of a database took. */
export function knownGroups(cursor: Cursor | undefined): ReadonlyMap<number, string> {
  const groups = new Map<number, string>();
  const state = cursor?.state;
  if (!isJsonObject(state)) return groups;
  for (const [group, digest] of Object.entries(objectField(state, "groups") ?? {}))
    if (typeof digest === "string") groups.set(Number(group), digest);
  return groups;
}

export function groupsJson(groups: ReadonlyMap<number, string>): JsonValue {
  return { groups: Object.fromEntries(groups) };
}

/** The group of a session. */
export function groupOf(session: string): number {
  return Number.parseInt(hash("sha256", session, "hex").slice(0, 8), 16) % GROUPS;
}

/** The digest of each group, by the digests of its sessions. */
export function groupDigests(sessions: ReadonlyMap<string, string>): Map<number, string> {
  const members = new Map<number, string[]>();
  for (const [id, digest] of sessions) {
    const group = groupOf(id);
    members.set(group, [...(members.get(group) ?? []), `${id}\u0000${digest}`]);
  }
  return new Map(
    [...members].map(([group, texts]) => [
      group,
      hash("sha256", texts.toSorted().join("\u0001"), "base64").slice(0, DIGEST_LENGTH),
    ]),
  );
}
