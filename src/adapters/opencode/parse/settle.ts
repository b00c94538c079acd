/**
 * Is a session at work (spec.md#model-revisions)? What is still moving is held back until it settles or nothing of its
 * session changed for ten minutes: a client that was killed never finishes its records.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import { field, objectField } from "../../kit/extract/index.ts";
import type { MessageRecord } from "../records/record.ts";
import { infoOf } from "../records/record.ts";
import type { SessionSource } from "../records/source.ts";

/** A session of which nothing changed for this long is at rest. */
export const IDLE_AFTER_MS = 10 * 60 * 1000;

export interface Rest {
  /** While at work only new records are taken; what changed is taken once the session rests. */
  readonly atWork: boolean;
  /** Messages from here on are not settled. */
  readonly settled: number;
}

export async function restOf(source: SessionSource, now: number): Promise<Rest> {
  const atRest = { atWork: false, settled: source.count };
  // An export is written once: what it holds will not settle any more.
  if (source.kind === "export" || now - source.newest >= IDLE_AFTER_MS) return atRest;
  // The first opencode says nothing that tells a record at work from a finished one.
  if (source.kind === "go") return { atWork: true, settled: 0 };
  for (let index = source.count - 1; index >= 0; index -= 1) {
    const message = await source.message(index);
    const role = field(infoOf(message) ?? {}, "role");
    if (role === "user") {
      // The client writes a message before its parts.
      if (message.parts.length > 0) continue;
      return { atWork: true, settled: index };
    }
    if (role !== "assistant") continue;
    // Before the model's last turn everything is settled: the client has moved on.
    if (!isSettled(message)) return { atWork: true, settled: index };
    return { atWork: index < source.count - 1 || expectsMore(message), settled: source.count };
  }
  return { atWork: source.count > 0, settled: source.count };
}

/** The turn ended, and no tool of it runs. */
function isSettled(message: MessageRecord): boolean {
  const info = infoOf(message) ?? {};
  const time = objectField(info, "time") ?? {};
  const hasEnded = field(time, "completed") !== undefined || field(info, "error") !== undefined;
  return hasEnded && !message.parts.some((part) => isRunning(infoOf(part)));
}

/** A part that is no JSON yet is being written. */
function isRunning(part: JsonObject | undefined): boolean {
  if (part === undefined) return true;
  const state = objectField(part, "state");
  const status = state && field(state, "status");
  return status === "pending" || status === "running";
}

function expectsMore(message: MessageRecord): boolean {
  return field(infoOf(message) ?? {}, "finish") === "tool-calls";
}
