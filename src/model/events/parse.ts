/**
 * From values of a program outside to the canonical model: decoded where they are in their JSON form (instants as RFC 3339
 * text or a Date, bytes as base64), then judged by the rules of ingest. What passes is sealed: such a program is the source of what it
 * says, so every value that it gives is one that the source really carried (spec.md#model-no-synthesis).
 */
import { PondError } from "../../base/errors.ts";
import { isDate } from "node:util/types";
import { eventFault, isObject } from "./fields.ts";
import { outsideMessageFault, outsidePartFault, outsideSessionFault } from "./outside.ts";
import { parseExactTimestamp, timestampFromMillis } from "../timestamp.ts";
import type { Event, Message, Part, Session } from "../types.ts";
import type { Violation } from "./validate.ts";
import { eventShapeFault, messageFault, partFault, sessionFault } from "./validate.ts";

/* oxlint-disable typescript/no-unsafe-type-assertion -- each is judged field by field right behind the cast */

/** A session from its canonical or its JSON form. Throws `validation_failed` with the rule and the field. */
export function parseSession(value: unknown): Session {
  const session = decodeSession(value) as Session;
  return accepted(session, judgedSession(session));
}

/** The same of a message. */
export function parseMessage(value: unknown): Message {
  const message = decodeMessage(value) as Message;
  return accepted(message, judgedMessage(message));
}

/** The same of a part. Whether its message may have it is judged where both are known. */
export function parsePart(value: unknown): Part {
  const part = decodePart(value) as Part;
  return accepted(part, judgedPart(part));
}

/** The same of an event. */
export function parseEvent(value: unknown): Event {
  const event = decodeEvent(value) as Event;
  const fault = outsideEventFault(event);
  if (fault !== undefined) throw refused(fault);
  if (event.kind === "session") return accepted(event, judgedSession(event.session));
  if (event.kind === "message") return accepted(event, judgedMessage(event.message));
  return accepted(event, judgedPart(event.part));
}

/* oxlint-enable typescript/no-unsafe-type-assertion */

const judgedSession = (session: Session): Violation | undefined =>
  sessionFault(session) ?? outsideSessionFault(session);
const judgedMessage = (message: Message): Violation | undefined =>
  messageFault(message) ?? outsideMessageFault(message);
const judgedPart = (part: Part): Violation | undefined => partFault(part) ?? outsidePartFault(part);

/** The canonical form of an event in JSON form; whatever else it is, is left as it is, for the validator to judge. */
export function decodeEvent(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { kind } = value;
  if (kind === "session") return withField(value, "session", decodeSession);
  if (kind === "message") return withField(value, "message", decodeMessage);
  return kind === "part" ? withField(value, "part", decodePart) : value;
}

/** What is wrong with an event as such: what a reader of a source adds to one is in no request. */
export function outsideEventFault(event: unknown): Violation | undefined {
  const fault = eventFault(event) ?? (isObject(event) && "record" in event ? RECORD_FAULT : undefined);
  return fault === undefined ? undefined : eventShapeFault(fault);
}

const RECORD_FAULT = { field: "record", message: "is no field of it" };

/** What breaks a rule, as an error. */
export function refused({ rule, message, field }: Violation): PondError {
  return new PondError("validation_failed", message, {
    data: { rule, ...(field === undefined ? {} : { field }) },
  });
}

function accepted<T>(value: T, fault: Violation | undefined): T {
  if (fault !== undefined) throw refused(fault);
  return value;
}

const decodeSession = (value: unknown): unknown => withField(value, "created_at", decodeInstant);
const decodeMessage = (value: unknown): unknown => withField(value, "timestamp", decodeInstant);

function decodeInstant(value: unknown): unknown {
  if (typeof value === "string") return parseExactTimestamp(value) ?? value;
  return isDate(value) ? (timestampFromMillis(value.getTime()) ?? value) : value;
}

function decodePart(value: unknown): unknown {
  return isObject(value) && value["type"] === "file" ? withField(value, "data", decodeData) : value;
}

function decodeData(value: unknown): unknown {
  return isObject(value) && value["kind"] === "bytes" ? withField(value, "value", decodeBase64) : value;
}

const BASE64 = /^(?:[0-9a-zA-Z+/]{4})*(?:[0-9a-zA-Z+/]{2}==|[0-9a-zA-Z+/]{3}=)?$/;

function decodeBase64(value: unknown): unknown {
  return typeof value === "string" && BASE64.test(value)
    ? new Uint8Array(Buffer.from(value, "base64"))
    : value;
}

/** The object with one field decoded; itself where that changes nothing. */
function withField(value: unknown, name: string, decode: (field: unknown) => unknown): unknown {
  if (!isObject(value) || !Object.hasOwn(value, name)) return value;
  const decoded = decode(value[name]);
  return decoded === value[name] ? value : { ...value, [name]: decoded };
}
