/**
 * A record in its place: the messages that it becomes, what of it they do not say, and the facts that are pond's own
 * (docs/adapters/codex-cli.md#records).
 */
import type { JsonObject } from "../../../base/json/json.ts";
import type { PondFacts } from "../../../model/derived/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { MessageDraft, TextSpan } from "../../kit/session/index.ts";
import { extractName, objectField, without } from "../../kit/extract/index.ts";
import { partsOf } from "./blocks.ts";
import type { DraftBody, PlacedItem } from "./items.ts";
import { authored } from "./provenance.ts";
import type { RolloutRecord } from "./record.ts";

/** An item with the facts that are pond's own. */
export interface Placed extends PlacedItem {
  readonly facts?: PondFacts;
}

const CARRIER: readonly DraftBody[] = [{ role: "system", parts: [] }];
const NO_OPTIONS: JsonObject = {};
const CONTENT: ReadonlySet<string> = new Set(["content"]);
const MESSAGE: ReadonlySet<string> = new Set(["message"]);

/** A record that is kept as it is. */
export function carried(view: RolloutRecord): Placed {
  return { rest: view.item, drafts: CARRIER };
}

/** A compaction stands in the log as its marker; its summary is what the model reads in a user's place from then on. */
export function placeCompaction(item: JsonObject): Placed {
  const text = extractName(item, "message");
  if (text === undefined) return { rest: item, drafts: CARRIER, facts: { compaction: "boundary" } };
  const drafts = [textBody(text, "compaction-summary")];
  return { rest: without(item, MESSAGE), drafts, facts: { compaction: "summary" } };
}

/** How messages between agents were kept before they became items. */
export function placeBetweenAgents(item: JsonObject, isChild: boolean): Placed {
  const text = extractName(item, "content");
  if (text === undefined) return { rest: item, drafts: CARRIER };
  const drafts = [textBody(text, isChild ? undefined : "agent-message")];
  return { rest: without(item, CONTENT), drafts };
}

/** A message in a user's place that is one text. */
function textBody(text: string, injected: string | undefined): DraftBody {
  const span: TextSpan = { start: 0, end: text.length, ...(injected === undefined ? {} : { injected }) };
  return {
    role: "user",
    parts: partsOf([{ type: "text", text }], { textType: "text", spans: () => authored([span]) }),
  };
}

/** The record goes with the first message of those that it is split over. */
export function draftsOf(
  bodies: readonly DraftBody[],
  record: JsonObject,
  facts: PondFacts,
): readonly MessageDraft[] {
  return bodies.map((body, index) => {
    const { role, content, parts, options = NO_OPTIONS } = body;
    const whole = index > 0 ? options : withFacts(withRecord(options, record), facts);
    return content === undefined ? { role, parts, options: whole } : { role, content, parts, options: whole };
  });
}

function withRecord(options: JsonObject, record: JsonObject): JsonObject {
  if (options === NO_OPTIONS) return { source: { record } };
  return { ...options, source: { ...objectField(options, "source"), record } };
}
