/**
 * Which sessions of a database changed since it was read (spec.md#sync-change-detection): digests of groups of sessions,
 * so that the cursor stays short however many sessions there are. Only rows tell: the header's change counter stands still
 * when a client in WAL mode commits, closes and takes its log along.
 */
import { hash } from "node:crypto";
import type { JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { objectField } from "../extract/extract.ts";
import type { Cursor } from "../sources/freshness.ts";

const GROUPS = 512;
const DIGEST_LENGTH = 10;

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
