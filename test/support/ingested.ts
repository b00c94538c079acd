/** Sessions to ingest, and the ingest itself in small batches. */
import type { TempStore } from "./temp-store.ts";
import { systemClock } from "../../src/base/clock.ts";
import { sealExtracted } from "../../src/model/extracted.ts";
import type { Event, Session } from "../../src/model/index.ts";
import type { SessionState } from "../../src/model/events/index.ts";
import { eventsOf } from "../../src/model/events/index.ts";
import { messageId, sessionId } from "../../src/model/index.ts";

/** Small, so that every property crosses batch boundaries. */
export const SMALL = { rows: 5, bytes: 2000 };

export async function ingestInto(store: TempStore, events: Iterable<Event>) {
  const writer = store.sessions.ingest({ clock: systemClock, limits: SMALL });
  await writer.add(events);
  return writer.flush();
}

/** The same session under another id, so that many runs share one store. */
export function rename(events: readonly Event[], id: string): Event[] {
  const session_id = sessionId(id);
  return events.map((event): Event => {
    if (event.kind === "session") return { kind: "session", session: { ...event.session, id: session_id } };
    if (event.kind === "message") return { kind: "message", message: { ...event.message, session_id } };
    return { kind: "part", part: { ...event.part, session_id } };
  });
}

/** Prompts, one a message. */
export function conversation(
  id: string,
  length: number,
  options: { parent?: string; at?: number; from?: number } = {},
): Event[] {
  const from = options.from ?? 0;
  const session: Session = {
    id: sessionId(id),
    ...(options.parent === undefined
      ? {}
      : { parent_session_id: sessionId(options.parent), relation: "spawn" as const }),
    source_agent: "test",
    created_at: (options.at ?? 0) as Session["created_at"],
    project: sealExtracted("/project"),
    options: {},
  };
  const messages = Array.from({ length }, (_, nth) => nth + from).map((index) => ({
    message: {
      id: messageId(`m${index}`),
      session_id: session.id,
      seq: index,
      timestamp: (1000 - index) as Session["created_at"],
      role: "user" as const,
      options: {},
    },
    parts: [
      {
        id: "0",
        session_id: session.id,
        message_id: messageId(`m${index}`),
        ordinal: 0,
        provenance: "conversational" as const,
        type: "text" as const,
        text: sealExtracted(`message ${index}`),
        options: {},
      },
    ],
  })) as unknown as SessionState["messages"];
  return [...eventsOf({ session, messages })];
}
