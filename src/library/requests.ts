/**
 * The door for programs without types: every request is checked against its schema before a handler sees it. Loads zod, so
 * it is loaded with the first request.
 */
import { z } from "zod";
import {
  getRequestSchema,
  parseRequest,
  searchRequestSchema,
  sessionsRequestSchema,
} from "../wire/schema.ts";

const text = z.string().min(1);
const filter = { adapters: z.array(text).exactOptional(), paths: z.array(text).exactOptional() };
const envelope = { protocol_version: true, namespace: true } as const;

/** The envelope is that of transports. */
const SCHEMAS = {
  adapters: z.strictObject(filter),
  get: getRequestSchema.omit(envelope),
  ingest: z.strictObject({
    events: z.array(z.unknown(), { error: "must be an array: [...eventsOf(state)]" }),
  }),
  restore: z.strictObject({
    session_id: text,
    to: text.exactOptional(),
    out: text.exactOptional(),
    map_paths: z.array(text).exactOptional(),
    dry_run: z.boolean().exactOptional(),
    reuse: z.boolean().exactOptional(),
    end: z.int().min(1).exactOptional(),
    source: text.exactOptional(),
    state: z.int().min(0).exactOptional(),
  }),
  search: searchRequestSchema.omit(envelope),
  sessions: sessionsRequestSchema.omit(envelope),
  sync: z.strictObject({
    ...filter,
    stages: z.array(z.enum(["import", "embed", "update-indexes"])).exactOptional(),
    dry_run: z.boolean().exactOptional(),
    verify: z.boolean().exactOptional(),
    force_embed: z.boolean().exactOptional(),
    wait: z.boolean().exactOptional(),
  }),
  tree: z.strictObject({ payloads: z.boolean().exactOptional() }),
  verify: z.strictObject(filter),
} as const;

export type Operation = keyof typeof SCHEMAS;

/** Throws `validation_failed` with every field at fault. */
export function checkRequest(operation: Operation, request: unknown): void {
  parseRequest(SCHEMAS[operation], request);
}
