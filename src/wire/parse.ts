/** A body of the wire against its schema: the envelope first, then every fault of the rest at once, in plain words. */
import { z } from "zod";
import { PondError } from "../base/errors.ts";
import { PROTOCOL_VERSION } from "./limits.ts";

/** The request, its envelope still on it. Throws `version_unsupported` or `validation_failed`. */
export function parseRequest<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const version = isObject(body) ? body["protocol_version"] : undefined;
  if (version !== undefined && version !== PROTOCOL_VERSION)
    throw new PondError(
      "version_unsupported",
      `protocol_version ${JSON.stringify(version)} is not supported`,
      {
        hint: `send protocol_version ${PROTOCOL_VERSION}`,
        data: { received: version, supported: [PROTOCOL_VERSION] },
      },
    );
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.flatMap((issue) => faultsOf(issue, body));
  const [{ field, message } = { field: "", message: "is not valid" }] = issues;
  const owner = parsed.error.issues[0]?.code === "unrecognized_keys" ? parsed.error.issues[0].path : [];
  throw new PondError("validation_failed", `${field || "the request"} ${message}`, {
    hint: `${owner.length === 0 ? "the request" : owner.join(".")} has these fields: ${fieldsAt(schema, owner).join(", ")}`,
    data: { ...(field === "" ? {} : { field }), issues },
  });
}

interface Fault {
  readonly field: string;
  /** The end of a sentence that begins with the field. */
  readonly message: string;
}

/** One a field, also where several are unknown. */
function faultsOf(issue: z.core.$ZodIssue, body: unknown): Fault[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ field: [...issue.path, key].join("."), message: "is no field of it" }));
  const value = issue.path.reduce<unknown>((at, key) => (isObject(at) ? at[String(key)] : undefined), body);
  return [{ field: issue.path.join("."), message: messageOf(issue, value) }];
}

function messageOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined && issue.path.length > 0) return "is required";
  // A schema's own words.
  if (issue.message.startsWith("must ")) return `${issue.message}, not ${shown(value)}`;
  if (issue.code === "invalid_type") return `must be ${typeName(issue.expected)}, not ${shown(value)}`;
  if (issue.code === "invalid_value") return `must be one of ${issue.values.join(", ")}, not ${shown(value)}`;
  if (issue.code === "too_small")
    return value === "" ? "must not be empty" : `must be at least ${issue.minimum}, not ${shown(value)}`;
  if (issue.code === "too_big")
    return typeof value === "string"
      ? `must have at most ${issue.maximum} characters, not ${value.length}`
      : `must be at most ${issue.maximum}, not ${shown(value)}`;
  return `is not valid: ${issue.message}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a text",
  boolean: "true or false",
  int: "a whole number",
  object: "an object",
  array: "an array",
};
const typeName = (expected: string): string => TYPE_NAMES[expected] ?? `a ${expected}`;

/** The fields of the object at a path of a schema. */
function fieldsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodExactOptional) return fieldsAt(schema.unwrap(), path);
  if (!(schema instanceof z.ZodObject)) return [];
  const [first, ...rest] = path;
  if (first === undefined) return Object.keys(schema.shape);
  const field: unknown = schema.shape[String(first)];
  return field instanceof z.ZodType ? fieldsAt(field, rest) : [];
}

/** Any value in a few words. */
function shown(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}...` : value);
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
