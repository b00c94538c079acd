/**
 * Messages of opencode, each with its parts, to canonical messages (docs/adapters/opencode.md#records). A user message
 * is one; an assistant message is one a step, followed by a tool message with the results of that step; anything
 * else is carried.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { PondFacts, RecordedAuthor } from "../../../model/derived/index.ts";
import type { Timestamp } from "../../../model/index.ts";
import { isOwnSpace, withFacts } from "../../../model/derived/index.ts";
import type { LogRecord, MessageDraft, PartDraft, SessionLog } from "../../kit/session/index.ts";
import {
  extractName,
  extractString,
  extractTimestamp,
  field,
  objectField,
  without,
} from "../../kit/extract/index.ts";
import { optional } from "../../../base/optional.ts";
import { mapPart } from "./blocks.ts";
import { wholeKind } from "./provenance.ts";
import { messageHash } from "./hashes.ts";
import type { MessageRecord, SourceRecord } from "./record.ts";
import { idOf, takeIds, wholeMessage } from "./record.ts";

const ROLE: ReadonlySet<string> = new Set(["role"]);

/** The session that pond restored into this one, and until when: what is not younger repeats it. */
export interface Restoration {
  readonly session_id: string;
  readonly at: number;
}

export interface MessageContext {
  readonly log: SessionLog;
  /** The id by which the client knows the session. */
  readonly session: string;
  /** The message before this one: a message that its client removes leaves the branch that others go on from. */
  readonly previous: string | null;
  /** Who writes the prompts, where the session does not imply it. */
  readonly author?: RecordedAuthor | undefined;
  /** Set for a session that pond restored from another. */
  readonly restoration?: Restoration | undefined;
}

export function messageEntry(message: MessageRecord, context: MessageContext): LogRecord {
  const source = idOf(message);
  const hash = messageHash(message);
  const id = context.log.identify("message", source, hash);
  const info = "json" in message.value && isJsonObject(message.value.json) ? message.value.json : undefined;
  const role = info && field(info, "role");
  const drafts =
    info !== undefined && (role === "user" || role === "assistant")
      ? turn(message, { ...context, info, role, isNamed: id.isSource })
      : [carrier(message, { ...context, isNamed: id.isSource })];
  const parts = message.parts;
  return {
    id,
    timestamp: timestampOf(message, info),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, message.bytes),
    drafts,
    hash,
    at: parts.reduce((newest, { at }) => Math.max(newest, at), message.at),
    whole: () => wholeMessage(message),
  };
}

function besideOf({ beside }: MessageRecord): JsonObject {
  return beside === undefined ? {} : { beside };
}

/** When it was made, as the record says; the column of a migrated row is the time of its migration. */
function timestampOf({ columns }: SourceRecord, info: JsonObject | undefined): Timestamp | undefined {
  const time = info && objectField(info, "time");
  const recorded = time && extractTimestamp(time, "created");
  return recorded ?? (columns && extractTimestamp(columns, "time_created"));
}

interface TurnContext extends MessageContext {
  readonly info: JsonObject;
  readonly role: "user" | "assistant";
  readonly isNamed: boolean;
}

function turn(message: MessageRecord, context: TurnContext): readonly MessageDraft[] {
  const { role, info, session, previous } = context;
  const left = takeIds(message, { session }, () => context.isNamed);
  const { record, space } = takeModel(isJsonObject(left.value) ? without(left.value, ROLE) : {}, role);
  const source = { ...left.source, ...besideOf(message), record };
  const options = withFacts({ ...space, source }, { parent: previous, ...replayOf(message, context) });
  const steps = stepsOf(message, { ...context, whole: wholeKind(info) });
  return steps.map((parts, index): MessageDraft => {
    const isAnswer = index % 2 === 1;
    return { role: isAnswer ? "tool" : role, options: index === 0 ? options : {}, parts };
  });
}

const MODEL: ReadonlySet<string> = new Set(["modelID"]);

/** The model of an answer stands in its provider's space, where every client's does. */
function takeModel(
  record: JsonObject,
  role: "user" | "assistant",
): { readonly record: JsonObject; readonly space: JsonObject } {
  const provider = extractName(record, "providerID");
  const model = extractString(record, "modelID");
  if (role === "user" || provider === undefined || model === undefined || !isSpace(provider))
    return { record, space: {} };
  return { record: without(record, MODEL), space: { [provider]: { model } } };
}

/** A name that is an ordinary key, and not one of pond's own. */
function isSpace(provider: string): boolean {
  return /^[a-z][a-z0-9._-]*$/i.test(provider) && !isOwnSpace(provider);
}

/** What pond restored into this session stands in another one already. */
function replayOf(message: MessageRecord, { restoration, info }: TurnContext): PondFacts {
  const created = timestampOf(message, info);
  if (restoration === undefined || created === undefined || created > restoration.at * 1000) return {};
  return { replays: { session_id: restoration.session_id } };
}

/** The parts by step: what was said, what was answered, and so on in turns. The last list of answers is not empty. */
function stepsOf(
  message: MessageRecord,
  context: TurnContext & { readonly whole: string | undefined },
): readonly (readonly PartDraft[])[] {
  const steps: PartDraft[][] = [[]];
  const expected = { session: context.session, ...optional("message", idOf(message)) };
  let answers: PartDraft[] = [];
  const used = new Set<string>();
  for (const [index, part] of message.parts.entries()) {
    const left = takeIds(part, expected, (id) => !used.has(id));
    const id = claim(left.id ?? String(index), used);
    const { role, whole, author } = context;
    const mapped = mapPart(left.value, { role, whole, author, id, source: left.source });
    if (mapped.startsStep && answers.length > 0) {
      steps.push(answers, []);
      answers = [];
    }
    // What a part brings along has ids made of its own, which another part may have.
    for (const [k, own] of mapped.own.entries())
      steps.at(-1)?.push(k === 0 ? own : { ...own, id: claim(own.id ?? "", used) });
    if (mapped.result !== undefined) answers.push(mapped.result);
  }
  return answers.length === 0 ? steps : [...steps, answers];
}

/** The id, made unique in its message. A source id comes here only when it is free. */
function claim(wanted: string, used: Set<string>): string {
  let id = wanted;
  while (used.has(id)) id += "#";
  used.add(id);
  return id;
}

/** A message that is no turn: whole, with its parts as they are. */
function carrier(
  message: MessageRecord,
  context: MessageContext & { readonly isNamed: boolean },
): MessageDraft {
  const { session } = context;
  const left = takeIds(message, { session }, () => context.isNamed);
  const parts = message.parts.map((part): JsonValue => {
    const rest = takeIds(part, { session, ...optional("message", idOf(message)) }, () => true);
    return {
      id: rest.id ?? null,
      ...rest.source,
      ...(rest.value === undefined ? {} : { record: rest.value }),
    };
  });
  return {
    role: "system",
    options: withFacts(
      {
        source: {
          ...left.source,
          ...besideOf(message),
          ...(left.value === undefined ? {} : { record: left.value }),
          ...(parts.length === 0 ? {} : { parts }),
        },
      },
      { parent: context.previous },
    ),
    parts: [],
  };
}
