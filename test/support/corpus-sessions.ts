/** Small deterministic sessions by number, the same in every process. */
import type { Event, Session } from "../../src/model/index.ts";
import { messageId, partId, sessionId } from "../../src/model/index.ts";
import { sealExtracted } from "../../src/model/extracted.ts";

export function corpusSession(index: number, messages: number): Event[] {
  const id = sessionId(`session-${index}`);
  const at = (n: number): Session["created_at"] =>
    (1_760_000_000_000_000 + index * 1_000_000 + n) as Session["created_at"];
  const events: Event[] = [
    {
      kind: "session",
      session: {
        id,
        source_agent: "test",
        created_at: at(0),
        project: sealExtracted(`/p/${index % 3}`),
        options: { index },
      },
    },
  ];
  for (let n = 0; n < messages; n++) {
    const message_id = messageId(`m${n}`);
    const role = n % 2 === 0 ? ("user" as const) : ("assistant" as const);
    events.push({
      kind: "message",
      message: { id: message_id, session_id: id, seq: n, timestamp: at(n), role, options: { n } },
    });
    const text = sealExtracted(`session ${index} message ${n} ${"lorem ipsum ".repeat(n % 7)}`);
    events.push({
      kind: "part",
      part: {
        id: partId("0"),
        session_id: id,
        message_id,
        ordinal: 0,
        provenance: "conversational",
        type: "text",
        text,
        options: {},
      },
    });
  }
  return events;
}
