/**
 * Who wrote a part (spec.md#model-part-author): most parts say it by where they stand, and only the others carry
 * the fact `author`. One pure function for every reader.
 */
import type { Author } from "./facts.ts";
import { pondFacts } from "./facts.ts";
import { isSubagent } from "./source-agent.ts";
import type { Message, Part, Session } from "../types.ts";

/** Where a part stands: the role of its message, and whose session that is. */
export type Standpoint = Pick<Message, "role"> & Pick<Session, "source_agent">;

/** Who wrote the part, or undefined where its source does not tell. */
export function partAuthor(
  part: Pick<Part, "provenance" | "options">,
  standpoint: Standpoint,
): Author | undefined {
  const { author } = pondFacts(part.options);
  if (author === "unknown") return undefined;
  return author ?? impliedAuthor(part.provenance, standpoint);
}

/** The author of a part that carries none. An agent below a client (`client/agent`) is prompted by a model. */
export function impliedAuthor(
  provenance: Part["provenance"],
  { role, source_agent }: Standpoint,
): Author | undefined {
  if (provenance === "injected") return "harness";
  if (role === "assistant") return "model";
  if (role === "user") return isSubagent(source_agent) ? "model" : "person";
  return undefined;
}
