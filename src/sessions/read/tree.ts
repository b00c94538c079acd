/**
 * The store's sessions as trees (spec.md#live-staged-tree): outlines from keys and short columns, by the indexes on them,
 * each with the row that its body is in.
 */
import { brandOf } from "../../model/derived/index.ts";
import { compareOldestFirst, describeKey, isMessageKey, isPartKey, messageId } from "../../model/index.ts";
import { REF } from "../../model/tree/index.ts";
import type { OnFault } from "../states/message-outlines.ts";
import type { PartRows, RowRef, StoredMessage, StoredPart } from "../states/row-ref.ts";
import { corrupt } from "../tables/options-text.ts";
import type { Event, MessageId, SessionId } from "../../model/index.ts";
import type {
  Found,
  Located,
  Outcome,
  Outline,
  PartScope,
  SessionOutline,
  TreeSource,
} from "../../model/tree/index.ts";
import { SessionHistory } from "../states/history.ts";
import { readBodies } from "./leaves.ts";
import { messageOutlinesIn } from "../states/message-outlines.ts";
import type { MessageText, TextWithFacts } from "../states/message-texts.ts";
import { readTexts, readTextsWithFacts } from "../states/message-texts.ts";
import { isReadWhole, readPartOutlines } from "./parts.ts";
import type { LocatedRow } from "../states/read-row-states.ts";
import { locatedRows, withPond } from "../states/read-row-states.ts";
import { faultList, outlineOfSummary, readSessionOutlines } from "./session-outlines.ts";
import type { RowStates } from "../states/row-states.ts";
import { rowStatesOf } from "../states/row-states.ts";
import type { SessionSummary } from "../summaries/summarise.ts";
import type { SummaryList } from "../summaries/summary-list.ts";
import { messageCount } from "../summaries/summary-list.ts";
import type { SessionTables } from "../tables/tables.ts";
import { readStates } from "../tables/versions.ts";
import type { Shown, View } from "./view.ts";
import { viewOf } from "./view.ts";
import type { Want } from "./whole.ts";
import { readMessageRows, readPartRows } from "./whole.ts";

export interface StoreTreeOptions {
  /** False: the data of a file part is empty. */
  readonly payloads: boolean;
  /** Sessions from their summaries, where they are at hand; from the table when absent. */
  readonly outlines?: Promise<SummaryList>;
  /**
   * Which messages of a session: those of its newest state, of one of its ends (1 is the newest), of a state of one of its
   * sources, or every row: in order of their positions at first reading, or (`history`) each where it was. Absent: the
   * newest.
   */
  readonly view?: View;
  /** Without the sessions of other clients that resume one of this client. */
  readonly client?: string;
  /** What will be wanted beside the plan; of small sessions, known by their outlines, it comes with it. */
  readonly ahead?: readonly Want[];
}

interface Ahead {
  readonly version: number;
  readonly rows: PartRows;
}

/** One for each operation: it remembers the states of the sessions that it outlined, and where their rows are in them. */
export class StoreTree implements TreeSource<RowRef> {
  readonly #tables: SessionTables;
  readonly #payloads: boolean;
  readonly #summaries: Promise<SummaryList> | undefined;
  readonly #wants: readonly Want[];
  readonly #view: View;
  readonly #client: string | undefined;
  readonly #histories = new Map<SessionId, Promise<SessionHistory>>();
  /** Every message of what was outlined, whatever the view. */
  readonly #stored = new Map<SessionId, readonly StoredMessage[]>();
  readonly #shown = new Map<SessionId, Shown>();
  readonly #versions = new Map<RowRef["table"], Promise<number>>();
  /** Parts of small sessions, asked for beside their messages: whoever plans a page of a session wants both. */
  readonly #ahead = new Map<SessionId, Promise<PartRows | undefined>>();

  constructor(
    tables: SessionTables,
    { payloads, outlines, ahead = [], view = "newest", client }: StoreTreeOptions,
  ) {
    this.#tables = tables;
    this.#payloads = payloads;
    this.#summaries = outlines;
    this.#wants = ahead;
    this.#view = view;
    this.#client = client;
  }

  /** The states of a session's sources. */
  history(session: SessionId): Promise<SessionHistory> {
    const known = this.#histories.get(session);
    if (known !== undefined) return known;
    const history = awaited(readStates(this.#tables, [session]).then((states) => new SessionHistory(states)));
    this.#histories.set(session, history);
    return history;
  }

  /** Where every row of a session is in its states, and its ends. */
  async rowStates(session: SessionId): Promise<RowStates<LocatedRow>> {
    if (!this.#stored.has(session)) await this.messages(session);
    const rows = locatedRows(this.#stored.get(session) ?? []);
    const history = await this.history(session);
    return rowStatesOf(history, history.isRecorded ? rows : await withPond(this.#tables, rows));
  }

  /** Which state of a session its messages are of; undefined where none is recorded, or nothing was outlined. */
  shown(session: SessionId): Shown | undefined {
    return this.#shown.get(session);
  }

  async session(id: SessionId): Promise<SessionOutline<RowRef> | undefined> {
    const summaries = await this.#summaries;
    if (summaries !== undefined) {
      const summary = summaries.get(id);
      return summary && outlineOfSummary(summary);
    }
    const { value, faults } = await this.#sessions("id", [id]);
    const [bad] = faults;
    if (bad !== undefined) throw corrupt(`session ${id}: ${bad.fault.message}`);
    return value[0];
  }

  async children(parents: readonly SessionId[]): Promise<Found<readonly SessionOutline<RowRef>[]>> {
    const summaries = await this.#summaries;
    const { value, faults } =
      summaries === undefined
        ? await this.#sessions("parent_session_id", parents)
        : { value: parents.flatMap((id) => summaries.childrenOf(id).map(outlineOfSummary)), faults: [] };
    const own = value.filter(({ relation, source_agent }) => this.#isOwn(relation, source_agent));
    return {
      value: own.toSorted(compareOldestFirst),
      faults,
    };
  }

  #isOwn(relation: SessionOutline["relation"], agent: string): boolean {
    const client = this.#client;
    return client === undefined || relation !== "resume" || brandOf(agent) === client;
  }

  #sessions(
    column: "id" | "parent_session_id",
    values: readonly SessionId[],
  ): Promise<Found<readonly SessionOutline<RowRef>[]>> {
    return readSessionOutlines(this.#tables, { column, values, version: this.#versionOf("sessions") });
  }

  async messages(session: SessionId): Promise<Found<readonly StoredMessage[]>> {
    void this.#versionOf("messages");
    if (this.#view !== "everything") void this.history(session);
    const ahead = this.#summaries === undefined ? undefined : awaited(this.#readAhead(session));
    const summary = this.#wants.length === 0 ? undefined : (await this.#summaries)?.get(session);
    const found = await this.#readMessages(session, summary);
    // The states were read beside the rows: what they hold may have been stored just after those were read.
    const isLacking = found.faults.some(({ fault }) => fault.kind === "missing");
    const messages = isLacking ? await this.#readMessages(session, summary) : found;
    if (ahead !== undefined) this.#ahead.set(session, awaited(this.#ifCurrent(ahead)));
    return messages;
  }

  async #readMessages(
    session: SessionId,
    summary: SessionSummary | undefined,
  ): Promise<Found<readonly StoredMessage[]>> {
    const { faults, onFault } = faultList();
    const [rows, version] = await Promise.all([
      readMessageRows(this.#tables, session, { wants: this.#wants, summary }),
      this.#versionOf("messages"),
    ]);
    const stored = messageOutlinesIn(rows, session, { version, onFault });
    this.#stored.set(session, stored);
    return { value: await this.#inView(stored, { session, onFault }), faults };
  }

  /** What the view shows of a session, in its order. */
  async #inView(
    stored: readonly StoredMessage[],
    { session, onFault }: { readonly session: SessionId; readonly onFault: OnFault },
  ): Promise<readonly StoredMessage[]> {
    if (this.#view === "everything") return stored;
    const history = await this.history(session);
    const { messages, shown, missing } = viewOf(history, stored, { session, view: this.#view });
    if (shown !== undefined) this.#shown.set(session, shown);
    for (const name of missing)
      onFault(
        { session_id: session, id: messageId(name) },
        { kind: "missing", message: "a recorded state contains it, but it is not stored" },
      );
    return messages;
  }

  async parts(scope: PartScope<RowRef>): Promise<Found<ReadonlyMap<MessageId, readonly StoredPart[]>>> {
    const { faults, onFault } = faultList();
    void this.#versionOf("parts");
    const ahead = await this.#ahead.get(scope.session);
    const version = this.#versionOf("parts");
    const value = await readPartOutlines(this.#tables, scope, { version, onFault, ahead });
    for (const { id, [REF]: ref } of scope.messages) {
      const expected = ref?.table === "messages" ? (ref.parts ?? 0) : 0;
      const { length } = value.get(id) ?? [];
      if (length < expected)
        onFault(
          { session_id: scope.session, id },
          { kind: "missing", message: `it has ${length} of its ${expected} parts` },
        );
    }
    return { value, faults };
  }

  /** The texts of some messages, in the order given. */
  texts(messages: readonly StoredMessage[]): Promise<readonly MessageText[]> {
    const rows = messages.map(({ role, [REF]: { row } }) => ({ row, role }));
    return readTexts(this.#tables, rows);
  }

  /** The texts of some messages, with the facts that pond keeps about them, in the order given. */
  textsWithFacts(messages: readonly StoredMessage[]): Promise<readonly TextWithFacts[]> {
    return readTextsWithFacts(this.#tables, messages);
  }

  /** For a plan that was made elsewhere, or from summaries: by the same looks that outline what is stored. */
  async locate(nodes: readonly Outline<RowRef>[]): Promise<readonly Outcome<Located<RowRef>>[]> {
    const stored = new Map<string, Located<RowRef>>();
    const add = (outlines: Iterable<Outline<RowRef>>): void => {
      for (const outline of outlines) {
        const ref = outline[REF];
        if (ref !== undefined) stored.set(describeKey(outline), { outline, ref });
      }
    };
    const parts = nodes.filter((node) => isPartKey(node));
    const messages = nodes.filter((node) => isMessageKey(node));
    const sessions = nodes.flatMap((node) => (isPartKey(node) || isMessageKey(node) ? [] : [node.id]));
    if (sessions.length > 0) add((await this.#sessions("id", sessions)).value);
    for (const session of new Set(messages.map(({ session_id }) => session_id)))
      add((await this.messages(session)).value);
    for (const [session, own] of Map.groupBy(parts, ({ session_id }) => session_id)) {
      const ids = [...new Set(own.map(({ message_id }) => message_id))].map((id) => ({ id }));
      const found = await this.parts({ session, messages: ids, of: ids.length });
      add([...found.value.values()].flat());
    }
    return nodes.map((node) => {
      const value = stored.get(describeKey(node));
      return value === undefined ? NOT_STORED : { ok: true, value };
    });
  }

  bodies(leaves: readonly Located<RowRef>[]): Promise<readonly Outcome<Event>[]> {
    return readBodies(this.#tables, leaves, { payloads: this.#payloads });
  }

  /** The parts of a small session, as of a version of their table. */
  async #readAhead(session: SessionId): Promise<Ahead | undefined> {
    const [summaries, version] = await Promise.all([this.#summaries, this.#versionOf("parts")]);
    const summary = summaries?.get(session);
    if (summary === undefined || !isReadWhole(messageCount(summary))) return undefined;
    return { version, rows: await readPartRows(this.#tables, session, { wants: this.#wants, summary }) };
  }

  /** Parts are written before the states that hold their messages: what was read before the states may lack some. */
  async #ifCurrent(ahead: Promise<Ahead | undefined>): Promise<PartRows | undefined> {
    const [found, version] = await Promise.all([ahead, this.#tables.parts.version()]);
    if (found?.version === version) return found.rows;
    this.#versions.set("parts", Promise.resolve(version));
    return undefined;
  }

  /** The version of a table, asked for once, beside the first look into it. */
  #versionOf(table: RowRef["table"]): Promise<number> {
    const known = this.#versions.get(table);
    if (known !== undefined) return known;
    const version = awaited(this.#tables[table].version());
    this.#versions.set(table, version);
    return version;
  }
}

const NOT_STORED = { ok: false, fault: { kind: "missing", message: "it is not stored" } } as const;

/** Asked for ahead: whoever needs it waits for it later and gets its failure, and perhaps nobody does. */
function awaited<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => undefined);
  return answer;
}
