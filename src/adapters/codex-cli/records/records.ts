/**
 * Places the records of one rollout in a session's log, each seen with the one after it: a user's item is followed by
 * the event that shows it, the agent's is preceded by it (in 2,965 of 2,965 real pairs), so one look ahead settles
 * which of the two is the message and what of it was typed (spec.md#adapter-twins).
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { RecordedAuthor } from "../../../model/derived/index.ts";
import type { PrefixFormat, RecordId, SessionLog, TextSpan } from "../../kit/session/index.ts";
import type { RecordSource } from "../../kit/sources/index.ts";
import {
  arrayField,
  extractName,
  extractString,
  extractTimestamp,
  field,
  isCanonicalTimestamp,
  objectField,
  without,
} from "../../kit/extract/index.ts";
import { keptValue } from "../../kit/session/index.ts";
import { optional } from "../../../base/optional.ts";
import { valueHash } from "../../kit/files/index.ts";
import { Calls } from "./calls.ts";
import { partsOf } from "./blocks.ts";
import { placeItem } from "./items.ts";
import { ADAPTER } from "../layout.ts";
import type { Placed } from "./placed.ts";
import { carried, draftsOf, placeBetweenAgents, placeCompaction } from "./placed.ts";
import {
  authored,
  declaredKind,
  injectedKind,
  isMediaLabel,
  submittedSpans,
  templateKind,
} from "./provenance.ts";
import type { RolloutRecord } from "./record.ts";
import { identityValue, isItemId, leftover, sourceIdOf, viewRecord } from "./record.ts";
import type { Replays } from "./replays.ts";
import type { ScreenText } from "./twins.ts";
import { Turns } from "./turns.ts";
import { isTwin, screenText, spokenText, twinVersion } from "./twins.ts";

/** Of `RecordMapper.state`: the version is raised whenever the same records would leave another state. */
export const PREFIX_FORMAT: PrefixFormat = { adapter: ADAPTER, version: 2 };

/** A record on its way into the log. */
export interface ReadRecord {
  readonly value: JsonValue;
  /** Undefined when the record is no object. */
  readonly view: RolloutRecord | undefined;
  /** Bytes of the record in its source. */
  readonly bytes: number;
  /** Of its value. */
  readonly hash: string;
  /** Where it is in the file; absent where the file is not read as it is. */
  readonly source: RecordSource | undefined;
  /** Set when the id was needed before the record's turn. */
  id?: RecordId;
}

export function readRecord(
  value: JsonValue,
  { bytes, source }: { readonly bytes: number; readonly source: RecordSource | undefined },
): ReadRecord {
  return { value, view: viewRecord(value), bytes, hash: valueHash(value), source };
}

/** What the session is, as far as provenance depends on it. */
export interface Setting {
  /** Started by the harness from a template of its own: nobody wrote its prompts. */
  readonly isHarness: boolean;
  /** A subagent: what other agents tell it is its conversation. */
  readonly isChild: boolean;
  /** Run by a program: who writes its prompts is not told. */
  readonly isUnattended: boolean;
  readonly replays: Replays;
}

/** What the record before it decided of a record: its id, and the message that it shows. */
interface Expected {
  readonly id: RecordId | undefined;
  readonly twin: string | undefined;
}

interface LoneScreenText extends ScreenText {
  readonly id: string;
}

interface SpokenMessage {
  readonly id: string;
  readonly role: string;
  readonly text: string;
}

export class RecordMapper {
  readonly #log: SessionLog;
  readonly #setting: Setting;
  readonly #calls: Calls;
  readonly #turns: Turns;
  /** Of the first record behind a prefix. */
  #expected: Expected | undefined;
  /** The event that the record before it was paired with. */
  #twin: { readonly entry: ReadRecord; readonly of: string } | undefined;
  /** The last message that no event has shown yet. */
  #unshown: SpokenMessage | undefined;
  /** The message that the event before it showed. */
  #announced: string | undefined;
  /** What an event showed that was told as the message itself, because its item was not there yet. */
  #lone: LoneScreenText | undefined;
  /** True once the log was seen to show what the agent says before recording it. */
  #showsAgent = false;
  /** True when the record before this one put something on the screen. */
  #wasShown = false;

  /** `before` is what `state` said of the records before the first that is placed. */
  constructor(log: SessionLog, setting: Setting, before?: JsonObject) {
    this.#log = log;
    this.#setting = setting;
    this.#calls = new Calls(before && keptValue(objectField(before, "calls")));
    this.#turns = new Turns(before && keptValue(objectField(before, "turns")));
    if (before === undefined) return;
    this.#expected = expectedIn(keptValue(objectField(before, "expected")));
    const unshown = objectField(before, "unshown");
    this.#unshown = unshown && spokenIn(unshown);
    this.#announced = extractString(before, "announced");
    this.#showsAgent = field(before, "shows_agent") === true;
    this.#wasShown = field(before, "was_shown") === true;
  }

  /** All that the records so far decide of those behind them, the first of which is `next`. */
  state(next: ReadRecord | undefined): JsonObject {
    const { id } = next ?? {};
    const twin = this.#twin?.entry === next ? this.#twin?.of : undefined;
    return {
      calls: this.#calls.state(),
      turns: this.#turns.state(),
      replays: this.#setting.replays.state(),
      expected: { ...optional("id", id && { ...id }), ...optional("twin", twin) },
      ...optional("unshown", this.#unshown && { ...this.#unshown }),
      ...optional("announced", this.#announced),
      shows_agent: this.#showsAgent,
      was_shown: this.#wasShown,
    };
  }

  /** Told of each record when it comes in sight: the first behind a prefix was seen before. */
  meet(entry: ReadRecord): void {
    if (this.#expected === undefined) return;
    const { id, twin } = this.#expected;
    this.#expected = undefined;
    if (id !== undefined) entry.id = id;
    if (twin !== undefined) this.#twin = { entry, of: twin };
  }

  /** True when the record after this one, the next to be placed, may change what becomes of it. */
  needsNext(entry: ReadRecord): boolean {
    if (entry.view === undefined) return false;
    const spoken = spokenText(entry.view);
    if (spoken?.role === "assistant") return this.#isUnannounced;
    return spoken !== undefined || screenText(entry.view)?.role === "assistant";
  }

  /** `wasAlone`: an earlier read told it when nothing stood behind it, and that is not taken back. */
  place(entry: ReadRecord, next: ReadRecord | undefined, wasAlone = false): void {
    const { view } = entry;
    const id = this.#identify(entry);
    const leaf = this.#turns.pass(view, id.text);
    if (view === undefined) return this.#carry(entry, id);
    this.#calls.noteOutcome(view);
    const timestamp = extractTimestamp(view.record, "timestamp");
    const replayed = this.#setting.replays.sourceOf(view, timestamp);
    const lone = this.#lone;
    this.#lone = undefined;
    const author = this.#author(replayed !== undefined);
    const placed = this.#placed({ entry, view, id, next, author, wasAlone, lone });
    this.#wasShown = view.kind === "event_msg/agent_message" || view.kind === "event_msg/item_completed";
    const isTyped =
      timestamp !== undefined && isCanonicalTimestamp(field(view.record, "timestamp"), timestamp);
    const item = id.isSource && isItemId(id.text) ? without(placed.rest, ITEM_ID) : placed.rest;
    const record = leftover(view, item, isTyped);
    const replays = replayed === undefined ? undefined : { session_id: replayed, message_id: id.text };
    const facts = { ...placed.facts, ...optional("replays", replays), ...optional("leaf", leaf) };
    const { bytes, hash, source } = entry;
    const drafts = draftsOf(placed.drafts, record, facts);
    const version = optional("version", placed.facts?.twin === undefined ? undefined : twinVersion(hash));
    this.#log.add({ id, timestamp, bytes, hash, ...version, drafts, whole: () => entry.value }, source);
  }

  /** True where this log would have shown a message of the agent already: it was never meant for the screen. */
  get #isUnannounced(): boolean {
    return this.#showsAgent && !this.#wasShown;
  }

  #identify(entry: ReadRecord): RecordId {
    const { view } = entry;
    if (entry.id !== undefined) return entry.id;
    const sourceId = view === undefined ? undefined : sourceIdOf(view);
    const value = view === undefined || sourceId !== undefined ? entry.value : identityValue(view);
    entry.id = this.#log.identify(view?.kind ?? "value", sourceId, value);
    return entry.id;
  }

  /**
   * Whose the user's slot is, where the session does not imply it. What a subagent inherits was said in the session
   * that it came from: that one tells by whom.
   */
  #author(isReplay: boolean): RecordedAuthor | undefined {
    const { isChild, isUnattended } = this.#setting;
    return (isChild ? isReplay : isUnattended) ? "unknown" : undefined;
  }

  /** A record that is no object. */
  #carry(entry: ReadRecord, id: RecordId): void {
    const options: JsonObject = { source: { record: entry.value } };
    const { bytes, hash, source } = entry;
    const drafts = [{ role: "system" as const, options, parts: [] }];
    this.#log.add({ id, bytes, hash, drafts, whole: () => entry.value }, source);
  }

  #placed(at: Placing): Placed {
    const { view } = at;
    const screen = screenText(view);
    if (screen !== undefined) return this.#placeScreenText(at, screen);
    if (view.isResponseItem) return this.#placeItem(at);
    if (view.kind === "compacted") return placeCompaction(view.item);
    if (view.kind === "inter_agent_communication")
      return placeBetweenAgents(view.item, this.#setting.isChild);
    if (view.kind === "event_msg/thread_name_updated" && extractName(view.item, "thread_name") !== undefined)
      return { ...carried(view), facts: { title: THREAD_NAME_TITLE } };
    return carried(view);
  }

  #placeItem(at: Placing): Placed {
    const { view, id, lone, author } = at;
    const spoken = spokenText(view);
    if (lone !== undefined && spoken !== undefined && isTwin(lone, spoken)) {
      // The text stands in the event already: it is told once, and this record is the carrier of the two.
      this.#showsAgent = true;
      this.#unshown = undefined;
      return { ...carried(view), facts: { twin: lone.id } };
    }
    // Told as never meant for the screen: an event that shows it after all is the message.
    const isHiddenTwin = at.wasAlone && spoken?.role === "assistant" && this.#isUnannounced;
    const next = isHiddenTwin ? undefined : at.next;
    const shown = next?.view === undefined ? undefined : screenText(next.view);
    const twin = shown !== undefined && spoken !== undefined && isTwin(shown, spoken) ? shown : undefined;
    if (twin !== undefined && next !== undefined) this.#twin = { entry: next, of: id.text };
    if (spoken !== undefined) {
      const isShown = twin !== undefined || isHiddenTwin || this.#announced === id.text;
      this.#unshown = isShown ? undefined : { id: id.text, ...spoken };
    }
    this.#calls.noteCall(view);
    const isHidden = this.#isUnannounced && twin === undefined;
    const placed = placeItem(view.item, view.itemType, {
      author,
      spans: (text, index) => authored(this.#spans({ view, twin }, text, index), author),
      agentSpans: (text) =>
        authored([{ start: 0, end: text.length, ...(isHidden ? { injected: "unshown" } : {}) }]),
      nameOf: (callId) => this.#calls.nameOf(callId),
      failureOf: (item) => this.#calls.failureOf(item),
    });
    return placed ?? carried(view);
  }

  #spans(
    message: { view: RolloutRecord; twin: ScreenText | undefined },
    text: string,
    index: number,
  ): readonly TextSpan[] {
    const { view, twin } = message;
    const whole = (injected: string): readonly TextSpan[] => [{ start: 0, end: text.length, injected }];
    if (isMediaLabel(text)) return whole("image-label");
    const template = templateKind(text);
    if (template !== undefined) return whole(template);
    if (view.itemType === "agent_message")
      return this.#setting.isChild ? submittedSpans(text) : whole("agent-message");
    const declared = declaredKind(view.item, index);
    if (declared !== undefined && declared !== "user") return whole(injectedKind(text) ?? declared);
    if (this.#setting.isHarness) return whole(injectedKind(text) ?? "prompt-template");
    if (declared === "user") return submittedSpans(text);
    const marked = injectedKind(text);
    if (twin === undefined) return marked === undefined ? submittedSpans(text) : whole(marked);
    if (!twin.typed) return whole(marked ?? "context");
    if (twin.text.includes(text)) return submittedSpans(text);
    const start = text.indexOf(twin.text);
    return start === -1 ? whole(marked ?? "context") : around(text, start, start + twin.text.length);
  }

  /** The event is a carrier when the item that it shows stands beside it, else it is the message itself. */
  #placeScreenText({ entry, view, id, next, author, wasAlone }: Placing, screen: ScreenText): Placed {
    const twin = this.#twinOf(entry, screen, { next, wasAlone });
    if (wasAlone && twin === undefined) this.#lone = { ...screen, id: id.text };
    if (twin !== undefined) return { ...carried(view), facts: { twin } };
    const { role } = screen;
    const textType = SCREEN_TYPES[role];
    const own = role === "user" ? author : undefined;
    const spans = (text: string): readonly TextSpan[] => authored(this.#screenSpans(screen, text), own);
    const rules = { textType, spans, media: "conversational", author: own } as const;
    const completed = view.kind === "event_msg/item_completed" ? objectField(view.item, "item") : undefined;
    if (completed !== undefined) {
      const content = arrayField(completed, "content") ?? [];
      const parts = partsOf(content, rules);
      return { rest: { ...view.item, item: without(completed, CONTENT) }, drafts: [{ role, parts }] };
    }
    const text = extractString(view.item, "message");
    if (text === undefined) return carried(view);
    const parts = partsOf([{ type: textType, text }], rules);
    return { rest: without(view.item, MESSAGE), drafts: [{ role, parts }] };
  }

  #twinOf(
    entry: ReadRecord,
    screen: ScreenText,
    { next, wasAlone }: Pick<Placing, "next" | "wasAlone">,
  ): string | undefined {
    if (this.#twin?.entry === entry) return this.#twin.of;
    const follows = next?.view === undefined ? undefined : spokenText(next.view);
    if (next !== undefined && follows?.role === "assistant" && isTwin(screen, follows)) {
      this.#showsAgent = true;
      this.#announced = this.#identify(next).text;
      // What was told alone stays so; what is behind it is read as by one who reads both at once.
      if (!wasAlone) return this.#announced;
    }
    const last = this.#unshown;
    if (last === undefined || last.role !== screen.role || last.text !== screen.text) return undefined;
    this.#unshown = undefined;
    return last.id;
  }

  #screenSpans(screen: ScreenText, text: string): readonly TextSpan[] {
    if (screen.role === "assistant") return [{ start: 0, end: text.length }];
    const template = templateKind(text);
    if (template === undefined && screen.typed && !this.#setting.isHarness) return submittedSpans(text);
    return [{ start: 0, end: text.length, injected: template ?? injectedKind(text) ?? "context" }];
  }
}

interface Placing {
  readonly entry: ReadRecord;
  readonly view: RolloutRecord;
  readonly id: RecordId;
  readonly next: ReadRecord | undefined;
  /** Who wrote the user's conversation, where the session does not imply it. */
  readonly author: RecordedAuthor | undefined;
  readonly wasAlone: boolean;
  /** What the event before it showed and was told as the message of. */
  readonly lone: LoneScreenText | undefined;
}

function expectedIn(state: JsonObject): Expected {
  const id = objectField(state, "id");
  const text = id && keptValue(extractString(id, "text"));
  return {
    id: text === undefined ? undefined : { text, isSource: id?.["isSource"] === true },
    twin: extractString(state, "twin"),
  };
}

function spokenIn(state: JsonObject): SpokenMessage {
  const value = (name: string): string => keptValue(extractString(state, name));
  return { id: value("id"), role: value("role"), text: value("text") };
}

/** Among the titles of a session: a name that a person gave stands above any that was made up. */
export const THREAD_NAME_RANK = 30;

const THREAD_NAME_TITLE = { at: "/source/record/payload/thread_name", rank: THREAD_NAME_RANK };

/** The type of a text entry in what `item_completed` shows. */
export const SCREEN_TYPES = { user: "text", assistant: "Text" } as const;

const CONTENT: ReadonlySet<string> = new Set(["content"]);
const ITEM_ID: ReadonlySet<string> = new Set(["id"]);
const MESSAGE: ReadonlySet<string> = new Set(["message"]);

/** What was submitted, inside a text that holds more than that. */
function around(text: string, start: number, end: number): readonly TextSpan[] {
  const spans: TextSpan[] = [];
  if (start > 0) spans.push({ start: 0, end: start, injected: "context" });
  spans.push(...submittedSpans(text, start, end));
  if (end < text.length) spans.push({ start: end, end: text.length, injected: "context" });
  return spans;
}
