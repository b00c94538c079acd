/**
 * The canonical schemas (spec.md#canonical-model): the single source of the types and of the published
 * JSON Schema. They decode the wire form (RFC 3339, base64) to the canonical one and encode it back. Importing
 * zod costs start-up time, so this is a door of its own: the wire and tests load it, everything else takes
 * types from index.ts. The ingest path uses validate.ts, proven equal to these schemas by a property test.
 */
import { z } from "zod";
import { jsonFault } from "../../base/json/json-fault.ts";
import type { JsonObject, JsonValue } from "../../base/json/json.ts";
import { provenances, relations, roles } from "../enums.ts";
import type { Extracted, ExtractedJson } from "../extracted.ts";
import { openJson, sealExtracted, sealExtractedJson } from "../extracted.ts";
import { MAX_ORDINAL } from "./fields.ts";
import type { MessageId, PartId, SessionId } from "../ids.ts";
import { messageId, partId, sessionId } from "../ids.ts";
import type { Timestamp } from "../timestamp.ts";
import { formatTimestamp, parseExactTimestamp, timestampFault } from "../timestamp.ts";

/** A schema whose wire form is W and whose canonical form is T. */
type Codec<T, W> = z.ZodType<T, W>;

const codec = <T, W>(wire: z.ZodType<W, W>, decode: (value: W) => T, encode: (value: T) => W): Codec<T, W> =>
  z.codec(
    wire,
    z.custom<T>(() => true),
    { decode, encode },
  );

/** Ids are keys, and a key column holds UTF-8: a lone surrogate has no spelling there. */
const idText = z
  .string()
  .min(1)
  .refine((id) => id.isWellFormed(), "an id cannot hold a lone surrogate");
const sessionIdSchema: Codec<SessionId, string> = codec(idText, sessionId, (id) => id);
const messageIdSchema: Codec<MessageId, string> = codec(idText, messageId, (id) => id);
const partIdSchema: Codec<PartId, string> = codec(idText, partId, (id) => id);

const sealedString: Codec<Extracted<string>, string> = codec(
  z.string(),
  sealExtracted<string>,
  (value) => value,
);
const sealedName: Codec<Extracted<string>, string> = codec(
  z.string().min(1),
  sealExtracted<string>,
  (value) => value,
);
const sealedBoolean: Codec<Extracted<boolean>, boolean> = codec(
  z.boolean(),
  sealExtracted<boolean>,
  (value) => value,
);

/** Any JSON value, passed through untouched: a copying schema would lose `__proto__` keys and exact numbers. */
const anyJson: Codec<ExtractedJson, JsonValue> = codec(
  z.custom<JsonValue>((value) => jsonFault(value) === undefined).meta({ description: "Any JSON value." }),
  sealExtractedJson,
  openJson,
);
const optionsSchema: z.ZodType<JsonObject, JsonObject> = z
  .custom<JsonObject>(
    (value) =>
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value) &&
      !JSON.isRawJSON(value) &&
      jsonFault(value) === undefined,
  )
  .meta({ type: "object", description: "Extensibility bag: <provider>, source and pond spaces." });

const timestampSchema: Codec<Timestamp, string> = z.codec(
  z.iso.datetime({ offset: true }),
  z.custom<Timestamp>((value) => Number.isSafeInteger(value) && !Object.is(value, -0)),
  {
    decode: (value, context) => {
      const timestamp = parseExactTimestamp(value);
      if (timestamp !== undefined) return timestamp;
      const message = timestampFault(value) ?? "is no RFC 3339 instant";
      context.issues.push({ code: "custom", input: value, message });
      return z.NEVER;
    },
    encode: formatTimestamp,
  },
);
const bytesSchema: Codec<Uint8Array, string> = z.codec(
  z.base64(),
  z.custom<Uint8Array>((value) => value instanceof Uint8Array),
  {
    decode: (value) => new Uint8Array(Buffer.from(value, "base64")),
    encode: (value) => Buffer.from(value).toString("base64"),
  },
);

/** Minus zero would be read back as zero. */
const position = z
  .int()
  .min(0)
  .refine((value) => !Object.is(value, -0), "minus zero is no position");

export const relationSchema = z.enum(relations);
export const provenanceSchema = z.enum(provenances);
export const roleSchema = z.enum(roles);

/** spec.md#model-parent-pointer-coherence, spec.md#model-project-non-empty */
export const sessionSchema = z
  .strictObject({
    id: sessionIdSchema,
    parent_session_id: sessionIdSchema.exactOptional(),
    parent_message_id: messageIdSchema.exactOptional(),
    relation: relationSchema.exactOptional(),
    source_agent: idText,
    created_at: timestampSchema,
    project: sealedName,
    options: optionsSchema,
  })
  .refine((session) => session.parent_message_id === undefined || session.parent_session_id !== undefined, {
    path: ["parent_message_id"],
    message: "parent_message_id needs parent_session_id",
  });

/** Empty for a carrier: it records that the record was no turn (spec.md#adapter-placement). */
const systemContent: Codec<Extracted<string> | "", string> = codec(
  z.string(),
  (value): Extracted<string> | "" => sealExtracted(value),
  (value) => value,
);

const messageBase = {
  id: messageIdSchema,
  session_id: sessionIdSchema,
  seq: position.exactOptional(),
  timestamp: timestampSchema,
  options: optionsSchema,
};

export const messageSchema = z.discriminatedUnion("role", [
  z.strictObject({ ...messageBase, role: z.literal("system"), content: systemContent }),
  z.strictObject({ ...messageBase, role: z.literal("user") }),
  z.strictObject({ ...messageBase, role: z.literal("assistant") }),
  z.strictObject({ ...messageBase, role: z.literal("tool") }),
]);

/** What a FilePart carries: text as the source wrote it (base64 mostly), raw bytes, or an address. */
export const fileDataSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("string"), value: sealedString }),
  z.strictObject({ kind: z.literal("bytes"), value: bytesSchema }),
  z.strictObject({ kind: z.literal("url"), value: sealedString }),
]);

const partBase = {
  id: partIdSchema,
  session_id: sessionIdSchema,
  message_id: messageIdSchema,
  ordinal: position.max(MAX_ORDINAL),
  provenance: provenanceSchema,
  options: optionsSchema,
};

export const filePartSchema = z.strictObject({
  ...partBase,
  type: z.literal("file"),
  media_type: sealedString.exactOptional(),
  file_name: sealedString.exactOptional(),
  data: fileDataSchema,
});

/** Seven kinds. Fields that some source cannot always supply are optional (spec.md#model-schema-honesty). */
export const partSchema = z.discriminatedUnion("type", [
  z.strictObject({ ...partBase, type: z.literal("text"), text: sealedString.exactOptional() }),
  z.strictObject({ ...partBase, type: z.literal("reasoning"), text: sealedString.exactOptional() }),
  filePartSchema,
  z.strictObject({
    ...partBase,
    type: z.literal("tool_call"),
    call_id: sealedString.exactOptional(),
    name: sealedString.exactOptional(),
    params: anyJson.exactOptional(),
    provider_executed: sealedBoolean.exactOptional(),
  }),
  z.strictObject({
    ...partBase,
    type: z.literal("tool_result"),
    call_id: sealedString.exactOptional(),
    name: sealedString.exactOptional(),
    is_failure: sealedBoolean.exactOptional(),
    result: anyJson.exactOptional(),
  }),
  z.strictObject({
    ...partBase,
    type: z.literal("tool_approval_request"),
    approval_id: sealedString,
    tool_call_id: sealedString,
  }),
  z.strictObject({
    ...partBase,
    type: z.literal("tool_approval_response"),
    approval_id: sealedString,
    approved: sealedBoolean.exactOptional(),
    reason: sealedString.exactOptional(),
  }),
]);

/** One canonical object tagged with its kind: what adapters stream and `ingest` accepts. */
export const eventSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("session"), session: sessionSchema }),
  z.strictObject({ kind: z.literal("message"), message: messageSchema }),
  z.strictObject({ kind: z.literal("part"), part: partSchema }),
]);

/** The published JSON Schema of the wire form, generated from the schemas above. */
export function canonicalJsonSchema(): JsonObject {
  const registry = z.registry<{ id: string }>();
  registry.add(sessionSchema, { id: "Session" });
  registry.add(messageSchema, { id: "Message" });
  registry.add(partSchema, { id: "Part" });
  registry.add(eventSchema, { id: "Event" });
  const { schemas } = z.toJSONSchema(registry, {
    io: "input",
    unrepresentable: "any",
    uri: (id) => `#/$defs/${id}`,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- zod's JSON Schema type is wider than JSON
  return { $schema: "https://json-schema.org/draft/2020-12/schema", $defs: schemas } as unknown as JsonObject;
}
