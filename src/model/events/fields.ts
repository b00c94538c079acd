/**
 * The fields of each canonical object and their types (spec.md#model-field-types): a row that could not be read back
 * as it was given is refused, whoever gives it. The types of a program hold this already, for programs that have types.
 * By hand and not by the schemas, which cost a hundred times as much an event; a property test holds both equal.
 */
import { isDate } from "node:util/types";
import type { JsonFault } from "../../base/json/json-fault.ts";
import { nearest } from "../../base/nearest.ts";
import { jsonFault } from "../../base/json/json-fault.ts";
import { partTypes, provenances, relations, roles } from "../enums.ts";
import { timestampFault } from "../timestamp.ts";
import type { PartType, Role } from "../types.ts";

/** What is wrong with a field, as the end of a sentence; undefined where nothing is. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

type Fault = string | undefined;
type Field = ((value: unknown) => Fault) & { readonly isOptional?: true };

interface Shape {
  /** Without a prototype: a field may have any name. */
  readonly fields: Readonly<Record<string, Field | undefined>>;
  readonly required: readonly string[];
}

/** The first field that is none of the object, not of its type, or not there. Allocates nothing where all is well. */
export function eventFault(event: unknown): FieldFault | undefined {
  if (!isObject(event)) return { field: "", message: `must be an object, not ${shown(event)}` };
  const { kind } = event;
  const shape = typeof kind === "string" ? EVENTS[kind] : undefined;
  if (shape === undefined) return { field: "kind", message: oneOf(EVENT_KINDS)(kind) ?? "" };
  return shapeFault(event, shape);
}

export function sessionFieldFault(session: unknown): FieldFault | undefined {
  return isObject(session) ? shapeFault(session, SESSION) : noObject("session", session);
}

export function messageFieldFault(message: unknown): FieldFault | undefined {
  if (!isObject(message)) return noObject("message", message);
  const { role } = message;
  if (!isRole(role)) return { field: "role", message: isOneOfRoles(role) ?? "" };
  return shapeFault(message, role === "system" ? SYSTEM_MESSAGE : MESSAGE);
}

export function partFieldFault(part: unknown): FieldFault | undefined {
  if (!isObject(part)) return noObject("part", part);
  const { type } = part;
  if (!isPartType(type)) return { field: "type", message: isOneOfPartTypes(type) ?? "" };
  return shapeFault(part, PARTS[type]);
}

export type Untyped = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Untyped {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const noObject = (field: string, value: unknown): FieldFault => ({
  field,
  message: `must be an object, not ${shown(value)}`,
});

function shapeFault(object: Untyped, { fields, required }: Shape): FieldFault | undefined {
  let missing = required.length;
  for (const name in object) {
    const field = fields[name];
    if (field === undefined) return { field: name, message: unknownField(name, Object.keys(fields)) };
    const value = object[name];
    const message = value === undefined ? undefinedFault(field) : field(value);
    if (message !== undefined) return { field: name, message };
    if (field.isOptional === undefined) missing -= 1;
  }
  if (missing === 0) return undefined;
  const field = required.find((name) => !(name in object)) ?? "";
  return { field, message: REQUIRED };
}

/** With the one that was meant, where that can be told, else with all that there are. */
function unknownField(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  return `is no field of it; ${meant === undefined ? `there are ${names.join(", ")}` : `did you mean ${meant}?`}`;
}

const REQUIRED = "is required";

/** What is absent has no key, in any canonical object. */
const undefinedFault = ({ isOptional }: Field): string =>
  isOptional === undefined ? REQUIRED : "is undefined: give it a value, or leave the key out";

const text: Field = (value) =>
  typeof value === "string" ? undefined : `must be a text, not ${shown(value)}`;
const flag: Field = (value) =>
  typeof value === "boolean" ? undefined : `must be true or false, not ${shown(value)}`;
const instant: Field = (value) => {
  if (isInteger(value)) return undefined;
  const fault = typeof value === "string" ? timestampFault(value) : undefined;
  return fault === undefined ? `${INSTANT}; got ${shown(value)}` : `${shown(value)} ${fault}`;
};
const position: Field = (value) =>
  isInteger(value) && value >= 0 ? undefined : `must be a whole number from 0, not ${shown(value)}`;
/** What its column holds. */
const ordinal: Field = (value) =>
  isInteger(value) && value >= 0 && value <= MAX_ORDINAL
    ? undefined
    : `must be a whole number from 0 to ${MAX_ORDINAL}, not ${shown(value)}`;
const bytes: Field = (value) =>
  value instanceof Uint8Array ? undefined : `must be bytes (a Uint8Array), not ${shown(value)}`;
const payload: Field = () => undefined;

/** What the outside parser takes for an instant; it makes whole microseconds since 1970 of it. */
export const INSTANT = "must be an RFC 3339 time with a zone, such as 2026-01-02T03:04:05Z, or a valid Date";

export const MAX_ORDINAL = 2 ** 31 - 1;

const json: Field = (value) => {
  const fault = jsonFault(value);
  return fault === undefined ? undefined : holding(fault);
};

/** What is no JSON in a value, as the end of a sentence. */
export function holding({ path, what }: JsonFault): string {
  const at = path === "" ? "" : ` at ${clipped(path)}`;
  return `holds ${what}${at}, which is no JSON value`;
}

const options: Field = (value) => {
  if (!isObject(value) || JSON.isRawJSON(value)) return `must be a JSON object, not ${shown(value)}`;
  return json(value);
};

function oneOf(allowed: readonly string[]): Field {
  const all = new Set<unknown>(allowed);
  return (value) =>
    all.has(value) ? undefined : `must be one of ${allowed.join(", ")}, not ${shown(value)}`;
}

function optional(field: Field): Field {
  return Object.assign((value: unknown) => field(value), { isOptional: true } as const);
}

/** By kind of payload. */
const data: Field = (value) => {
  if (!isObject(value)) return `${DATA}, not ${shown(value)}`;
  const { kind } = value;
  const shape = typeof kind === "string" ? FILE_DATA[kind] : undefined;
  const fault = shape === undefined ? { field: "kind", message: isFileKind(kind) } : shapeFault(value, shape);
  return fault === undefined ? undefined : `${DATA}: ${fault.field} ${fault.message}`;
};
const DATA = 'must be { kind: "string" | "url" | "bytes", value }';

function shapeOf(fields: Readonly<Record<string, Field>>): Shape {
  const required = Object.keys(fields).filter((name) => fields[name]?.isOptional === undefined);
  return { fields: bare(fields), required };
}

function bare<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T | undefined>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.create has no better type
  return Object.assign(Object.create(null) as Record<string, T | undefined>, entries);
}

const kind = text;

const FILE_DATA = bare({
  string: shapeOf({ kind, value: text }),
  bytes: shapeOf({ kind, value: bytes }),
  url: shapeOf({ kind, value: text }),
});
const isFileKind = (value: unknown): string => oneOf(Object.keys(FILE_DATA))(value) ?? "";

const RECORD = shapeOf({ id: text, hash: text, value: optional(text), piece: position });
const record: Field = (value) => {
  const fault = isObject(value) ? shapeFault(value, RECORD) : noObject("record", value);
  return fault === undefined ? undefined : `is wrong: ${fault.field} ${fault.message}`;
};

const EVENTS = bare({
  session: shapeOf({ kind, session: payload }),
  // A reader of a source says which record it is of; no request does, so that the schema does not know it.
  message: shapeOf({ kind, message: payload, record: optional(record) }),
  part: shapeOf({ kind, part: payload }),
});
const EVENT_KINDS = Object.keys(EVENTS);

const SESSION = shapeOf({
  id: text,
  parent_session_id: optional(text),
  parent_message_id: optional(text),
  relation: optional(oneOf(relations)),
  source_agent: text,
  created_at: instant,
  project: text,
  options,
});

const isOneOfRoles = oneOf(roles);
const isRole = (value: unknown): value is Role => isOneOfRoles(value) === undefined;
const message = {
  id: text,
  session_id: text,
  seq: optional(position),
  timestamp: instant,
  role: text,
  options,
};
const MESSAGE = shapeOf(message);
const SYSTEM_MESSAGE = shapeOf({ ...message, content: text });

const isOneOfPartTypes = oneOf(partTypes);
const isPartType = (value: unknown): value is PartType => isOneOfPartTypes(value) === undefined;
const part = {
  id: text,
  session_id: text,
  message_id: text,
  ordinal,
  provenance: oneOf(provenances),
  options,
  type: text,
};
const call = { call_id: optional(text), name: optional(text) };
const PARTS: Readonly<Record<PartType, Shape>> = {
  text: shapeOf({ ...part, text: optional(text) }),
  reasoning: shapeOf({ ...part, text: optional(text) }),
  file: shapeOf({ ...part, media_type: optional(text), file_name: optional(text), data }),
  tool_call: shapeOf({ ...part, ...call, params: optional(json), provider_executed: optional(flag) }),
  tool_result: shapeOf({ ...part, ...call, is_failure: optional(flag), result: optional(json) }),
  tool_approval_request: shapeOf({ ...part, approval_id: text, tool_call_id: text }),
  tool_approval_response: shapeOf({
    ...part,
    approval_id: text,
    approved: optional(flag),
    reason: optional(text),
  }),
};

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

/** Any value in a few words; never calls what the value brings along. */
export function shown(value: unknown): string {
  if (typeof value === "string") return clipped(JSON.stringify(value));
  if (value === undefined || value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return Object.is(value, -0) ? "minus zero" : String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  if (isDate(value)) return Number.isNaN(value.getTime()) ? "an invalid Date" : "a Date";
  return Array.isArray(value) ? "an array" : "an object";
}

/** Enough to find it by. */
const clipped = (words: string): string => (words.length <= 80 ? words : `${words.slice(0, 80)}...`);
