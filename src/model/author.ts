/**
 * Who wrote a part (spec.md#model-part-author): most parts say it by where they stand, and only the others carry
 * `options.pond.author`. One pure function for every reader.
 */
import { pondOf } from "./facts.ts";
import type { Message, Part, Session } from "./types.ts";

/** A person at the client, a model (also one that prompts another), or the client and what runs around it. */
export type Author = "person" | "model" | "harness";

/** What a part may carry; `unknown` where its source says that a program handed it in, and not who wrote it. */
export type RecordedAuthor = Author | "unknown";

/** Where a part stands: the role of its message, and whose session that is. */
export type Standpoint = Pick<Message, "role"> & Pick<Session, "source_agent">;

/** Who wrote the part, or undefined where its source does not tell. */
export function partAuthor(
  part: Pick<Part, "provenance" | "options">,
  standpoint: Standpoint,
): Author | undefined {
  const recorded = pondOf(part.options)["author"];
  if (recorded === "person" || recorded === "model" || recorded === "harness") return recorded;
  return recorded === "unknown" ? undefined : impliedAuthor(part.provenance, standpoint);
}

/** The author of a part that carries none. An agent below a client (`client/agent`) is prompted by a model. */
export function impliedAuthor(
  provenance: Part["provenance"],
  { role, source_agent }: Standpoint,
): Author | undefined {
  if (provenance === "injected") return "harness";
  if (role === "assistant") return "model";
  if (role === "user") return source_agent.includes("/") ? "model" : "person";
  return undefined;
}
