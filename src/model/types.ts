/** The canonical types, inferred from the schemas; importing them costs nothing at run time. */
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
} from "./schema.ts";

export type Session = Readonly<z.output<typeof sessionSchema>>;
export type Message = Readonly<z.output<typeof messageSchema>>;
export type Part = Readonly<z.output<typeof partSchema>>;
export type FileData = Readonly<z.output<typeof fileDataSchema>>;
export type Event = Readonly<z.output<typeof eventSchema>> & {
  /** Of a message that a reader of a source tells. */
  readonly record?: RecordPiece;
};
export type Provenance = z.output<typeof provenanceSchema>;
export type Relation = z.output<typeof relationSchema>;
export type Role = z.output<typeof roleSchema>;
export type PartType = Part["type"];

/** Which record of its source a message is of. Never stored as such: it decides what is stored (spec.md#storage-versions). */
export interface RecordPiece {
  /** The record's id: that of its first message, in its first version. */
  readonly id: string;
  /** What tells one version of it from another: 128 bits of the record's value, in hex. */
  readonly hash: string;
  /** The hash of the value alone, where `hash` stands for more than that. */
  readonly value?: string;
  /** Its place among the messages that the record is split over. */
  readonly piece: number;
}
