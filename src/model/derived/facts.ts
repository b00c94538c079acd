/**
 * The facts that pond keeps about sessions, messages and parts, in the `pond` space of their options: one closed type, one
 * builder, one reader. Nothing else in the code knows their keys. A value that is not of its fact's shape was written by
 * nobody we know and counts as absent.
 */
import type { JsonObject, JsonValue } from "../../base/json/json.ts";
import { isJsonObject } from "../../base/json/json.ts";
import { relations } from "../enums.ts";
import type { Relation } from "../types.ts";

/** A message of another session. */
export interface MessageName {
  readonly session_id: string;
  readonly message_id: string;
}

/** The message that another one repeats. */
export interface Replayed extends MessageName {
  /** What else it repeats, where its client joins what were several messages. */
  readonly also?: readonly MessageName[];
}

/** What a copy says of its original: of which session it is, and mostly of which message. */
export interface Original extends Pick<Replayed, "session_id" | "also"> {
  readonly message_id?: string;
}

/** What pond knows of a session or a message that it restored itself. */
export interface Restored extends Original {
  /** Of a session whose lineage is pond's: what its client recorded of it. */
  readonly recorded?: RecordedLineage;
}

export interface RecordedLineage {
  readonly parent_session_id?: string;
  readonly parent_message_id?: string;
  readonly relation?: Relation;
  readonly source_agent?: string;
}

/** A person at the client, a model (also one that prompts another), or the client and what runs around it. */
export type Author = "person" | "model" | "harness";

/** What a part may carry; `unknown` where its source says that a program handed it in, and not who wrote it. */
export type RecordedAuthor = Author | "unknown";

/** What pond knows of a session, message or part beside what its source says; all of it is optional. */
export interface PondFacts {
  // Of sessions.

  /** Its source records no instant of its creation: `created_at` is the time of a file. */
  readonly created_at?: "file";
  /** The call in its parent that started it. */
  readonly call_id?: string;
  /** Nothing proves the row: it was made of its messages, or read from a damaged file (spec.md#keep-repair). */
  readonly recovered?: true;

  // Of sessions and messages.

  /** pond restored it from there (spec.md#sources-restored). Until November 2026 sessions said `true` only. */
  readonly restored?: true | Restored;

  // Of messages: their place in the log (spec.md#model-branches).

  /** The message that this one follows; null for the first of a tree. */
  readonly parent?: string | null;
  /** The client moved to that message without writing a turn; null: before the first one. */
  readonly leaf?: string | null;
  /** It is on another lane, and moves no leaf. */
  readonly aside?: true;
  /** Shared by the records of one response of the model. */
  readonly turn?: string;

  // Of messages: their record and its versions (spec.md#model-revisions).

  /** The source gave the record no id: `derived` from its value. */
  readonly id?: "derived";
  /** The source gave the record no instant: `carried` from the one before (spec.md#model-carried-timestamp). */
  readonly timestamp?: "carried";
  /** Where one record is split over several messages: the id of the first of them. */
  readonly record?: string;
  /** On every version of a record but the first: the id of the message that it replaces. */
  readonly revises?: string;
  /** The hash of the record's value, where an older pond stored it. */
  readonly value?: string;
  /** Milliseconds since 1970 of the last change that the source recorded. */
  readonly at?: number;
  /** The client no longer has the record. */
  readonly removed?: true;
  /** The message keeps the record that was truncated whole, for restore (spec.md#adapter-bounded-values): nothing to show. */
  readonly whole?: true;

  // Of messages: what they mean.

  /** A copy that its client made: of that message, or of one with the same id in an unknown session (spec.md#search-shown-once). */
  readonly replays?: true | Original;
  /** The message whose text this carrier's record repeats. */
  readonly twin?: string;
  /** Where in its options a title of the session is (a JSON pointer), and how it ranks (spec.md#model-title). */
  readonly title?: TitleFact;
  /** The client compacted here: with its summary, without one, or by dropping old results only. */
  readonly compaction?: "summary" | "boundary" | "micro";

  // Of parts.

  /** What kind of injected text it is (spec.md#model-part-provenance). */
  readonly injected?: string;
  /** Who wrote it, where its place does not imply that (spec.md#model-part-author). */
  readonly author?: RecordedAuthor;
  /** It continues the text of the part before it. */
  readonly joined?: true;
  /** The part whose result this file was attached to, and where in the list of its attachments. */
  readonly of?: string;
  readonly index?: number;

  // Of anything.

  /** Only this marker fits the size bound (spec.md#adapter-bounded-values). */
  readonly truncated?: string;
}

export interface TitleFact {
  readonly at: string;
  readonly rank: number;
}

/** Facts that are being collected. */
export type FactsDraft = { -readonly [Name in keyof PondFacts]: PondFacts[Name] };

type FactReader<T> = (value: JsonValue) => T | undefined;

const text: FactReader<string> = (value) => (typeof value === "string" ? value : undefined);
const number: FactReader<number> = (value) => (typeof value === "number" ? value : undefined);
const textOrNull: FactReader<string | null> = (value) => (value === null ? value : text(value));
const isTrue: FactReader<true> = (value) => (value === true ? value : undefined);
const oneOf =
  <T extends string>(...words: readonly T[]): FactReader<T> =>
  (value) =>
    words.find((word) => word === value);
const orTrue =
  <T>(read: FactReader<T>): FactReader<T | true> =>
  (value) =>
    value === true ? value : read(value);

const READERS: { readonly [Name in keyof PondFacts]-?: FactReader<NonNullable<PondFacts[Name]> | null> } = {
  created_at: oneOf("file"),
  call_id: text,
  recovered: isTrue,
  restored: orTrue(restoredIn),
  parent: textOrNull,
  leaf: textOrNull,
  aside: isTrue,
  turn: text,
  id: oneOf("derived"),
  timestamp: oneOf("carried"),
  record: text,
  revises: text,
  value: text,
  at: number,
  removed: isTrue,
  whole: isTrue,
  replays: orTrue(originalIn),
  twin: text,
  title: titleFactIn,
  compaction: oneOf("summary", "boundary", "micro"),
  injected: text,
  author: oneOf("person", "model", "harness", "unknown"),
  joined: isTrue,
  of: text,
  index: number,
  truncated: text,
};

const READER_OF: ReadonlyMap<string, FactReader<unknown>> = new Map(Object.entries(READERS));
const NO_FACTS: PondFacts = {};

/** The facts in the options of a session, a message or a part. */
export function pondFacts(options: JsonObject): PondFacts {
  return factsIn(pondSpace(options));
}

/** What has facts: by its options, or alone where nothing else of them was read. */
export type WithFacts = { readonly options: JsonObject } | { readonly facts: PondFacts };

export function factsOf(of: WithFacts): PondFacts {
  return "facts" in of ? of.facts : pondFacts(of.options);
}

/** The same of a `pond` space alone. */
export function factsIn(space: JsonValue | undefined): PondFacts {
  if (!isJsonObject(space)) return NO_FACTS;
  const facts: Record<string, unknown> = {};
  for (const name of Object.keys(space)) {
    const value = space[name];
    const fact = value === undefined ? undefined : READER_OF.get(name)?.(value);
    if (fact !== undefined) facts[name] = fact;
  }
  return facts;
}

/** What is wrong with the `pond` space that a program outside gives, as a sentence; undefined where nothing is. */
export function factsFault(options: JsonObject): string | undefined {
  const space = pondSpace(options);
  if (space === undefined) return undefined;
  if (!isJsonObject(space)) return `options.pond must be an object of pond's own facts; ${OTHER_SPACE}`;
  for (const [name, value] of Object.entries(space)) {
    const read = READER_OF.get(name);
    if (read === undefined) return `options.pond.${name} is none of pond's facts; ${OTHER_SPACE}`;
    if (read(value) === undefined) return `options.pond.${name} is not of its shape; ${OTHER_SPACE}`;
  }
  return undefined;
}

const OTHER_SPACE = "put what is yours under another key of options";

/** Facts as a `pond` space, which `factsIn` reads. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an interface has no index signature; its values are JSON
export const spaceOf = (facts: PondFacts): JsonObject => facts as unknown as JsonObject;

/** The options with these facts, beside or in the place of those that they have; the same options where there are none. */
export function withFacts(options: JsonObject, facts: PondFacts): JsonObject {
  if (Object.keys(facts).length === 0) return options;
  const own = pondSpace(options);
  return withPondSpace(options, { ...(isJsonObject(own) ? own : {}), ...spaceOf(facts) });
}

/** The options without some facts. A space that is empty then stays. */
export function withoutFacts(options: JsonObject, names: readonly (keyof PondFacts)[]): JsonObject {
  const own = pondSpace(options);
  const left: ReadonlySet<string> = new Set(names);
  const facts = Object.entries(isJsonObject(own) ? own : {}).filter(([name]) => !left.has(name));
  return withPondSpace(options, Object.fromEntries(facts));
}

/** How options begin, as text, where what pond keeps comes first; and what every text of options has that holds it. */
export const SPACE_TEXT = { first: '{"pond":{', anywhere: '"pond":' } as const;

/** What every text of options has that holds the fact; others may have it, too. */
export const factText = (name: keyof PondFacts): string => `"${name}":`;

/** What an options bag has under pond's name, whoever wrote it and whatever it is. */
export function pondSpace(options: JsonObject): JsonValue | undefined {
  return Object.hasOwn(options, "pond") ? options["pond"] : undefined;
}

/** The options with that under pond's name; without the name where it is undefined. */
export function withPondSpace(options: JsonObject, space: JsonValue | undefined): JsonObject {
  if (space !== undefined) return { ...options, pond: space };
  const { pond: _, ...others } = options;
  return others;
}

/** True for the names of options that are not a provider's. */
export function isOwnSpace(name: string): boolean {
  return name === "source" || name === "pond";
}

function restoredIn(value: JsonValue): Restored | undefined {
  const original = originalIn(value);
  if (original === undefined || !isJsonObject(value) || !isJsonObject(value["recorded"])) return original;
  return { ...original, recorded: lineageIn(value["recorded"]) };
}

function originalIn(value: JsonValue): Original | undefined {
  if (!isJsonObject(value)) return undefined;
  const { session_id, message_id, also: others } = value;
  if (typeof session_id !== "string") return undefined;
  const also = Array.isArray(others) ? others.flatMap((other: JsonValue) => messageNameIn(other) ?? []) : [];
  return {
    session_id,
    ...(typeof message_id === "string" ? { message_id } : {}),
    ...(also.length === 0 ? {} : { also }),
  };
}

function messageNameIn(value: JsonValue): MessageName | undefined {
  if (!isJsonObject(value)) return undefined;
  const { session_id, message_id } = value;
  return typeof session_id === "string" && typeof message_id === "string"
    ? { session_id, message_id }
    : undefined;
}

function lineageIn(recorded: JsonObject): RecordedLineage {
  const { parent_session_id, parent_message_id, source_agent } = recorded;
  const relation = relations.find((known) => known === recorded["relation"]);
  return {
    ...(typeof parent_session_id === "string" ? { parent_session_id } : {}),
    ...(typeof parent_message_id === "string" ? { parent_message_id } : {}),
    ...(relation === undefined ? {} : { relation }),
    ...(typeof source_agent === "string" ? { source_agent } : {}),
  };
}

function titleFactIn(value: JsonValue): TitleFact | undefined {
  if (!isJsonObject(value)) return undefined;
  const { at, rank } = value;
  return typeof at === "string" && typeof rank === "number" ? { at, rank } : undefined;
}
