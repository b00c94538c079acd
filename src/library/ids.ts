/** Ids of programs without types: the brands of the model, given only to what can be a key (spec.md#model-identity). */
import { PondError } from "../base/errors.ts";
import type { MessageId, PartId, SessionId } from "../model/index.ts";
import * as model from "../model/index.ts";

/** The id of a session, for calls that take one. Throws `validation_failed` for what is no id. */
export const sessionId = (id: string): SessionId => model.sessionId(checked("sessionId", id));
/** The same of a message. */
export const messageId = (id: string): MessageId => model.messageId(checked("messageId", id));
/** The same of a part. */
export const partId = (id: string): PartId => model.partId(checked("partId", id));

function checked(maker: string, id: unknown): string {
  if (typeof id === "string" && id !== "" && id.isWellFormed()) return id;
  const given = typeof id === "string" ? JSON.stringify(id) : `a ${id === null ? "null" : typeof id}`;
  throw new PondError(
    "validation_failed",
    `${maker}: id must be a text that is not empty and holds no lone surrogate, not ${given}`,
    { data: { rule: "model-identity", field: "id" } },
  );
}
