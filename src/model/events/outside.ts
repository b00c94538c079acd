/**
 * What programs outside are held to, beyond the rules of every row: mistakes that a program without types makes and that a
 * reader of a client's files may have to store as they are. Judged where such events come in, and nowhere else
 * (spec.md#model-own-facts, spec.md#model-parent-pointer-coherence).
 */
import type { JsonObject, JsonValue } from "../../base/json/json.ts";
import { isJsonObject } from "../../base/json/json.ts";
import { hiddenProperty } from "../../base/json/json-fault.ts";
import { MAX_TEXT_BYTES } from "../bound-text.ts";
import { factsFault } from "../derived/facts.ts";
import { isSourceAgent } from "../derived/source-agent.ts";
import { openJson } from "../extracted.ts";
import { holding, INSTANT } from "./fields.ts";
import type { Message, Part, Session } from "../types.ts";
import type { Violation } from "./validate.ts";

/** Of a session that is well formed. */
export function outsideSessionFault(session: Session): Violation | undefined {
  const whose = `session ${session.id}`;
  const { source_agent, parent_session_id: parent, relation } = session;
  if (!isSourceAgent(source_agent))
    return {
      rule: "model-identity",
      message: `${whose}: source_agent must be the name of a program, or program/agent for an agent below it, not ${JSON.stringify(source_agent)}`,
      field: "source_agent",
    };
  if (parent === session.id)
    return incoherent(
      `${whose}: parent_session_id must be the id of another session, not its own`,
      "parent_session_id",
    );
  if (relation !== undefined && parent === undefined)
    return incoherent(`${whose}: relation ${relation} needs parent_session_id`, "relation");
  return instantFault(whose, "created_at", session.created_at) ?? optionsFault(whose, session.options);
}

/** The same of a message. */
export function outsideMessageFault(message: Message): Violation | undefined {
  const { id, timestamp, options } = message;
  return (
    instantFault(`message ${id}`, "timestamp", timestamp) ??
    optionsFault(`message ${id}`, options) ??
    (message.role === "system" ? boundFault(`message ${id}`, "content", message.content) : undefined)
  );
}

/** The same of a part. */
export function outsidePartFault(part: Part): Violation | undefined {
  const whose = `part ${part.id} of message ${part.message_id}`;
  return optionsFault(whose, part.options) ?? valueFault(whose, part) ?? textFault(whose, part);
}

/** What JSON cannot hold and would be dropped in silence (spec.md#model-field-types). */
function valueFault(whose: string, part: Part): Violation | undefined {
  if (part.type === "tool_call" && part.params !== undefined)
    return hiddenFault(whose, "params", openJson(part.params));
  if (part.type === "tool_result" && part.result !== undefined)
    return hiddenFault(whose, "result", openJson(part.result));
  return undefined;
}

function hiddenFault(whose: string, field: string, value: JsonValue): Violation | undefined {
  const fault = hiddenProperty(value);
  if (fault === undefined) return undefined;
  return { rule: "model-field-types", message: `${whose}: ${field} ${holding(fault)}`, field };
}

function textFault(whose: string, part: Part): Violation | undefined {
  if (part.type === "text" || part.type === "reasoning") return boundFault(whose, "text", part.text ?? "");
  if (part.type === "tool_call" && part.params !== undefined)
    return longestFault(whose, "params", openJson(part.params));
  if (part.type === "tool_result" && part.result !== undefined)
    return longestFault(whose, "result", openJson(part.result));
  return undefined;
}

/** A reader keeps what it must cut; a program can cut for itself, or give it as a file (spec.md#adapter-bounded-values). */
function boundFault(whose: string, field: string, text: string): Violation | undefined {
  if (text.length * 3 <= MAX_TEXT_BYTES || Buffer.byteLength(text) <= MAX_TEXT_BYTES) return undefined;
  const message = `${whose}: ${field} has a text of ${Buffer.byteLength(text)} bytes, and one may have ${MAX_TEXT_BYTES}; give it as a file`;
  return { rule: "adapter-bounded-values", message, field };
}

/** Without recursion: a result may be nested deeper than a stack. */
function longestFault(whose: string, field: string, value: JsonValue): Violation | undefined {
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") {
      const fault = boundFault(whose, field, next);
      if (fault !== undefined) return fault;
    } else if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (isJsonObject(next)) for (const item of Object.values(next)) open.push(item);
  }
  return undefined;
}

/** Microseconds before March 1973: what a program gives as a number there was seconds or milliseconds. */
const LEAST_MICROS = 1e14;
/** The first 100 seconds of 1970, which tests write and no clock of today gives. */
const MOST_EPOCH_MICROS = 1e8;

/** True for a number that only a Date or a text can mean: nothing of any program is so old. */
export const isTooOld = (micros: number): boolean => Math.abs(micros) < LEAST_MICROS;

/** What is wrong with such a number. */
export const tooOld = (micros: number): string =>
  `got the number ${micros}, which as microseconds is older than any session: milliseconds are new Date(${micros})`;

function instantFault(whose: string, field: string, micros: number): Violation | undefined {
  if (!isTooOld(micros) || Math.abs(micros) < MOST_EPOCH_MICROS) return undefined;
  return {
    rule: "model-field-types",
    message: `${whose}: ${field} ${INSTANT}; ${tooOld(micros)}`,
    field,
  };
}

const optionsFault = (whose: string, options: JsonObject): Violation | undefined =>
  hiddenFault(whose, "options", options) ?? ownFactsFault(whose, options);

function ownFactsFault(whose: string, options: JsonObject): Violation | undefined {
  const fault = factsFault(options);
  if (fault === undefined) return undefined;
  return { rule: "model-own-facts", message: `${whose}: ${fault}`, field: "options" };
}

const incoherent = (message: string, field: string): Violation => ({
  rule: "model-parent-pointer-coherence",
  message,
  field,
});
