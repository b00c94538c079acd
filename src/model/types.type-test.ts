/** The plain interfaces and the schemas are the same types: neither can gain or lose a field alone. */
import type { z } from "zod";
import type {
  eventSchema,
  fileDataSchema,
  messageSchema,
  partSchema,
  provenanceSchema,
  relationSchema,
  roleSchema,
  sessionSchema,
} from "./events/schema.ts";
import type { Event, FileData, Message, Part, Provenance, Relation, Role, Session } from "./types.ts";

/** True where each can stand for the other, member by member of a union. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type AllKeys<T> = T extends unknown ? keyof T : never;
type Equal<A, B> = Same<A, B> extends true ? Same<AllKeys<A>, AllKeys<B>> : false;

type Checked<T extends true> = T;

export type SessionIsItsSchema = Checked<Equal<Session, z.output<typeof sessionSchema>>>;
export type MessageIsItsSchema = Checked<Equal<Message, z.output<typeof messageSchema>>>;
export type PartIsItsSchema = Checked<Equal<Part, z.output<typeof partSchema>>>;
export type FileDataIsItsSchema = Checked<Equal<FileData, z.output<typeof fileDataSchema>>>;
export type ProvenanceIsItsSchema = Checked<Equal<Provenance, z.output<typeof provenanceSchema>>>;
export type RelationIsItsSchema = Checked<Equal<Relation, z.output<typeof relationSchema>>>;
export type RoleIsItsSchema = Checked<Equal<Role, z.output<typeof roleSchema>>>;

/** What a reader of a source adds to an event is in no request. */
type WithoutRecord<T> = T extends unknown ? Omit<T, "record"> : never;
export type EventIsItsSchema = Checked<Equal<WithoutRecord<Event>, z.output<typeof eventSchema>>>;

// @ts-expect-error a type that lost a field is another one
export type LostFieldIsSeen = Checked<Equal<Omit<Session, "relation">, z.output<typeof sessionSchema>>>;
// @ts-expect-error a type with a field more is another one
export type NewFieldIsSeen = Checked<Equal<Session & { x?: string }, z.output<typeof sessionSchema>>>;
