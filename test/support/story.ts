/**
 * Sessions by hand: `story("s", { project: "/p" }).user("hello").assistant("hi").events()`. Each message is a minute
 * after the one before; ids count up (`s-0`, `s-1`, ...) unless given.
 */
import type { JsonObject, JsonValue } from "../../src/base/json/json.ts";
import type { Event, Part, Relation, Role, Session, Timestamp } from "../../src/model/index.ts";
import { messageId, parseTimestamp, partId, sessionId } from "../../src/model/index.ts";
import { sealExtracted, sealExtractedJson } from "../../src/model/extracted.ts";

export interface SessionFacts {
  readonly project?: string;
  readonly agent?: string;
  readonly at?: string;
  readonly parent?: string;
  readonly relation?: Relation;
  /** The message of the parent that a fork goes on from. */
  readonly cut?: string;
}

export interface MessageFacts {
  readonly id?: string;
  readonly at?: string;
  readonly pond?: JsonObject;
  readonly options?: JsonObject;
  /** False: a record at no position of the log. */
  readonly positioned?: boolean;
}

type Draft = Record<string, unknown> & { readonly type: Part["type"] };

const MINUTE = 60_000_000;

export class Story {
  readonly #session: Session;
  readonly #events: Event[] = [];
  #messages = 0;
  #position = 0;

  constructor(id: string, facts: SessionFacts = {}) {
    this.#session = {
      id: sessionId(id),
      source_agent: facts.agent ?? "claude-code",
      project: sealExtracted(facts.project ?? "/srv/pond"),
      created_at: parseTimestamp(facts.at ?? "2026-01-02T03:04:05Z")!,
      ...(facts.parent === undefined ? {} : { parent_session_id: sessionId(facts.parent) }),
      ...(facts.relation === undefined ? {} : { relation: facts.relation }),
      ...(facts.cut === undefined ? {} : { parent_message_id: messageId(facts.cut) }),
      options: {},
    };
  }

  user(text: string, facts: MessageFacts = {}): this {
    return this.message("user", [textPart(text)], facts);
  }

  assistant(text: string, facts: MessageFacts = {}): this {
    return this.message("assistant", [textPart(text)], facts);
  }

  call(name: string, params: JsonValue, facts: MessageFacts & { readonly call?: string } = {}): this {
    const body = {
      type: "tool_call" as const,
      call_id: facts.call ?? "call-1",
      name,
      params: sealJson(params),
    };
    return this.message("assistant", [body], facts);
  }

  result(
    name: string,
    result: JsonValue,
    facts: MessageFacts & { readonly call?: string; readonly failed?: boolean } = {},
  ): this {
    const { call = "call-1", failed = false } = facts;
    const body = { type: "tool_result" as const, call_id: call, name, is_failure: failed };
    return this.message("tool", [{ ...body, provenance: "injected", result: sealJson(result) }], facts);
  }

  carrier(facts: MessageFacts): this {
    return this.message("system", [], facts);
  }

  message(
    role: Role,
    parts: readonly Draft[],
    facts: MessageFacts & { readonly content?: string } = {},
  ): this {
    const id = messageId(facts.id ?? `${this.#session.id}-${this.#messages}`);
    const timestamp = (
      facts.at === undefined ? this.#session.created_at + this.#messages * MINUTE : parseTimestamp(facts.at)
    ) as Timestamp;
    this.#messages += 1;
    const positioned = facts.positioned !== false;
    const base = {
      id,
      session_id: this.#session.id,
      ...(positioned ? { seq: this.#position } : {}),
      timestamp,
      options: { ...facts.options, ...(facts.pond === undefined ? {} : { pond: facts.pond }) },
    };
    if (positioned) this.#position += 1;
    this.#events.push({
      kind: "message",
      message:
        role === "system"
          ? { ...base, role, content: facts.content === undefined ? "" : sealExtracted(facts.content) }
          : { ...base, role },
    });
    for (const [ordinal, draft] of parts.entries())
      this.#events.push({
        kind: "part",
        part: {
          id: partId(String(ordinal)),
          session_id: this.#session.id,
          message_id: id,
          ordinal,
          provenance: "conversational",
          options: {},
          ...draft,
        } as unknown as Part,
      });
    return this;
  }

  events(): Event[] {
    return [{ kind: "session", session: this.#session }, ...this.#events];
  }
}

export const story = (id: string, facts?: SessionFacts): Story => new Story(id, facts);

export const textPart = (text: string, provenance: Part["provenance"] = "conversational"): Draft => ({
  type: "text",
  provenance,
  text,
});

const sealJson = (value: JsonValue): unknown => sealExtractedJson(value);
