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
export type Event = Readonly<z.output<typeof eventSchema>>;
export type Provenance = z.output<typeof provenanceSchema>;
export type Relation = z.output<typeof relationSchema>;
export type Role = z.output<typeof roleSchema>;
export type PartType = Part["type"];
