/** The hashes of what native restore makes of stored messages (spec.md#sources-state). */
import type { SessionState } from "../../../model/events/index.ts";
import { revisionOf } from "../../../model/derived/index.ts";
import type { RecordHashes } from "../../kit/files/index.ts";
import { sideHash } from "../../kit/session/index.ts";
import { goMessageHash, messageHash } from "../records/hashes.ts";
import type { Group } from "./native.ts";
import { nativeRecords, sourceOf, wholeIn } from "./native.ts";

export function hashes(state: SessionState, form: string): RecordHashes {
  const log: { readonly record: string; readonly hash: string }[] = [];
  const side = new Map<string, string>();
  for (const { group, record } of nativeRecords(state, form)) {
    const [first] = group;
    const name = revisionOf(first.message).record;
    if (record === undefined) side.set(name, hashOfCarrier(group));
    else log.push({ record: name, hash: form === "go" ? goMessageHash(record) : messageHash(record) });
  }
  return { log, side };
}

function hashOfCarrier(group: Group): string {
  const [{ message, parts }] = group;
  const [part] = parts;
  return sideHash(
    wholeIn(group) ?? sourceOf(message.options),
    part?.type === "file" && part.data.kind === "bytes" ? part.data.value : undefined,
  );
}
