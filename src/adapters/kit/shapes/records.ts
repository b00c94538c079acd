/** Records to messages and back, by a client's table of shapes: ids, the tree, instants, carriers, and what is left over. */
import { PondError } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { optional } from "../../../base/optional.ts";
import type { Message, Role } from "../../../model/index.ts";
import type { PondFacts } from "../../../model/derived/index.ts";
import { formatTimestamp } from "../../../model/index.ts";
import { isAllowed } from "../../../model/events/index.ts";
import { pondFacts, withFacts } from "../../../model/derived/index.ts";
import {
  arrayField,
  extractName,
  extractString,
  extractTimestamp,
  field,
  isCanonicalTimestamp,
  without,
} from "../extract/extract.ts";
import type { RecordGroup } from "../restore/record-groups.ts";
import { sourceOf, withUnmapped } from "../restore/native-logs.ts";
import { MessageIds } from "../session/message-ids.ts";
import type { LogRecord, MessageDraft, PartDraft, SessionLog } from "../session/session-log.ts";
import { blocksOf, partOf } from "./blocks.ts";
import { holderAt, putBack, takenOut } from "./pointer.ts";
import type { RecordShapes, TurnShape } from "./shapes.ts";

/** Maps the records of a log, in order. */
export class ShapedRecords {
  readonly #log: SessionLog;
  readonly #shapes: RecordShapes;
  readonly #messages: MessageIds;

  /** `before` is what `state` said of the records before the first that is mapped. */
  constructor(log: SessionLog, shapes: RecordShapes, before?: JsonObject) {
    this.#log = log;
    this.#shapes = shapes;
    this.#messages = new MessageIds(before && { state: field(before, "messages") });
  }

  state(): JsonObject {
    return { messages: this.#messages.state() };
  }

  map(record: JsonValue, at: { readonly bytes: number; readonly hash: string }): LogRecord {
    if (!isJsonObject(record)) {
      const options = withFacts({ source: { record } }, { id: "derived" });
      const id = this.#log.identify("value", undefined, record);
      return { id, ...at, drafts: [{ role: "system", options, parts: [] }], whole: () => record };
    }
    const shapes = this.#shapes;
    const sourceId = extractName(record, shapes.id);
    const id = this.#log.identify(extractName(record, shapes.kind) ?? "record", sourceId, record);
    const timestamp = extractTimestamp(record, shapes.timestamp);
    const taken = new Set<string>();
    if (id.isSource) taken.add(shapes.id);
    if (timestamp !== undefined && isCanonicalTimestamp(field(record, shapes.timestamp), timestamp))
      taken.add(shapes.timestamp);
    const recorded = field(record, shapes.parent);
    // A parent that is not in the log makes a root; its id stays in the record.
    const parent = typeof recorded === "string" ? (this.#messages.get(recorded) ?? null) : recorded;
    if ((parent === null || typeof parent === "string") && parent === recorded) taken.add(shapes.parent);
    if (sourceId !== undefined) this.#messages.set(sourceId, id.text);
    const facts: PondFacts = {
      ...(id.isSource || Object.hasOwn(record, shapes.id) ? {} : { id: "derived" }),
      ...(timestamp === undefined ? { timestamp: "carried" } : {}),
      ...(parent === null || typeof parent === "string" ? { parent } : {}),
      ...shapes.facts?.(record),
    };
    const drafts = draftsOf(record, { shapes, taken, facts });
    return {
      id,
      timestamp,
      ...at,
      drafts,
      whole: () => record,
      ...optional("fault", faultOf(record, shapes)),
    };
  }
}

/** The record that these messages came from. */
export function shapedRecord({ first, pieces, record: id }: RecordGroup, shapes: RecordShapes): JsonValue {
  const { message } = first;
  const source = sourceOf(message);
  const rest = field(source, "record");
  if (rest === undefined)
    throw new PondError("validation_failed", `message ${message.id} does not contain a record`, {
      reason: "unsupported",
      hint: "restore the session into another client",
    });
  if (!isJsonObject(rest)) return rest;
  const record = { ...rest, ...envelopeOf(message, { rest, id, shapes }) };
  const turn = message.role === "system" ? undefined : shapes.turn(rest);
  if (turn === undefined) return record;
  const blocks = blocksOf(
    pieces.flatMap(({ parts }) => parts),
    shapes,
  );
  const at = holderAt(rest, turn.blocks);
  const isText = at !== undefined && typeof field(at.holder, at.name) === "string";
  return putBack(record, turn.blocks, isText ? (blocks[0] ?? "") : withUnmapped(blocks, source));
}

/** A record that the table takes for a turn, and that has no blocks where the table says. */
function faultOf(record: JsonObject, shapes: RecordShapes): string | undefined {
  const turn = shapes.turn(record);
  if (turn === undefined || blocksIn(record, turn) !== undefined) return undefined;
  return `a turn of the ${turn.role} has no list of blocks and no text at ${turn.blocks}; it is kept, but not as a message`;
}

interface Taking {
  readonly shapes: RecordShapes;
  readonly taken: ReadonlySet<string>;
  readonly facts: PondFacts;
}

function draftsOf(record: JsonObject, { shapes, taken, facts }: Taking): readonly MessageDraft[] {
  const turn = shapes.turn(record);
  const blocks = turn && blocksIn(record, turn);
  if (turn === undefined || blocks === undefined)
    return [
      {
        role: "system",
        options: withFacts({ source: { record: without(record, taken) } }, facts),
        parts: [],
      },
    ];
  const kindAt = turn.injected?.(record, blocks);
  const unmapped: JsonValue[] = [];
  const runs: { readonly role: Role; readonly parts: PartDraft[] }[] = [{ role: turn.role, parts: [] }];
  for (const [index, block] of blocks.entries()) {
    const part = partOf(block, shapes, { record, injected: kindAt?.(index) });
    if (part === undefined) {
      unmapped.push([index, block]);
      continue;
    }
    const role = isAllowed(turn.role, part.type) ? turn.role : HOMES[part.type];
    const run = runs.at(-1);
    if (run?.role === role) run.parts.push(part);
    else runs.push({ role, parts: [part] });
  }
  const rest = without(withoutBlocks(record, turn), taken);
  const source = { record: rest, ...(unmapped.length === 0 ? {} : { blocks: unmapped }) };
  return runs.map((run, index) => ({ ...run, options: index === 0 ? withFacts({ source }, facts) : {} }));
}

/** The blocks of a turn; a text is a turn of one. */
function blocksIn(record: JsonObject, { blocks }: TurnShape): readonly JsonValue[] | undefined {
  const at = holderAt(record, blocks);
  if (at === undefined) return undefined;
  const text = extractString(at.holder, at.name);
  return text === undefined ? arrayField(at.holder, at.name) : [text];
}

/** A text leaves an empty one, which says on native restore that there was no list. */
function withoutBlocks(record: JsonObject, { blocks }: TurnShape): JsonObject {
  const at = holderAt(record, blocks);
  const isText = at !== undefined && typeof field(at.holder, at.name) === "string";
  return isText ? putBack(record, blocks, "") : takenOut(record, blocks);
}

/** The role of a part that the role of its record does not allow. */
const HOMES: Readonly<Record<PartDraft["type"], Role>> = {
  text: "user",
  file: "user",
  reasoning: "assistant",
  tool_call: "assistant",
  tool_result: "tool",
  tool_approval_request: "assistant",
  tool_approval_response: "tool",
};

/** Id, parent and instant, where they were taken out. */
function envelopeOf(
  message: Message,
  from: { readonly rest: JsonObject; readonly id: string; readonly shapes: RecordShapes },
): JsonObject {
  const { rest, id, shapes } = from;
  const { parent, ...facts } = pondFacts(message.options);
  const isUnnamed = Object.hasOwn(rest, shapes.id) || facts.id === "derived";
  const isUntimed = Object.hasOwn(rest, shapes.timestamp) || facts.timestamp === "carried";
  return {
    ...(isUnnamed ? {} : { [shapes.id]: id }),
    ...(parent === undefined || Object.hasOwn(rest, shapes.parent) ? {} : { [shapes.parent]: parent }),
    ...(isUntimed ? {} : { [shapes.timestamp]: formatTimestamp(message.timestamp) }),
  };
}
