/**
 * The store's sessions as trees (spec.md#live-staged-tree). Planned from keys and short columns, by the indexes on
 * them; a reference is a row of a table, which the queries of the plan have told already.
 */
import type {
  EntityKey,
  Event,
  Fault,
  Found,
  MessageId,
  MessageOutline,
  Outcome,
  PartPlan,
  PartScope,
  PlanNode,
  SessionId,
  SessionOutline,
  TreeSource,
} from "../model/index.ts";
import { isPartKey, messageId, relations, sessionId, timestampFromMicros } from "../model/index.ts";
import type { Rows } from "../substrate/index.ts";
import { SessionHistory } from "./history.ts";
import type { LocatedRow } from "./read-standings.ts";
import { locatedRows, withPond } from "./read-standings.ts";
import type { Planned, RowRef } from "./leaves.ts";
import { readLeaves } from "./leaves.ts";
import type { PartRows } from "./parts.ts";
import { isReadWhole, readPartRefs } from "./parts.ts";
import type { MessageRef, MessageRows, OnFault, Said } from "./read.ts";
import { messageRefsIn, readSaid, saidAt } from "./read.ts";
import { corrupt, oneOf } from "./rows.ts";
import type { SESSIONS } from "./schema.ts";
import type { Standings } from "./standing.ts";
import { standingsOf } from "./standing.ts";
import type { SessionSummary } from "./summarise.ts";
import type { SummaryList } from "./summary-list.ts";
import { messageCount } from "./summary-list.ts";
import type { SessionTables } from "./tables.ts";
import { readStates } from "./versions.ts";
import type { Shown, View } from "./view.ts";
import { viewOf } from "./view.ts";
import type { Want } from "./whole.ts";
import { placesIn, readMessageRows, readPartRows } from "./whole.ts";

const OUTLINE_COLUMNS = ["id", "parent_session_id", "relation", "source_agent", "created_at"] as const;

export interface StoreTreeOptions {
  /** False: the data of a file part is empty. */
  readonly payloads: boolean;
  /** Sessions from their summaries, where they are at hand; from the table when absent. */
  readonly outlines?: Promise<SummaryList>;
  /**
   * Which messages of a session: those of its newest state, of one of its ends (1 is the newest), of a state of one of its
   * sources, or every row: in order of their positions at first reading, or (`history`) each where it stood. Absent: the
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

/** One for each operation: it remembers the rows of all that it planned. */
export class StoreTree implements TreeSource<RowRef> {
  readonly #tables: SessionTables;
  readonly #payloads: boolean;
  readonly #summaries: Promise<SummaryList> | undefined;
  readonly #sessions = new Map<string, bigint>();
  readonly #messages = new Map<string, Map<string, bigint>>();
  readonly #parts = new Map<string, Map<string, Map<string, bigint>>>();
  readonly #wants: readonly Want[];
  readonly #view: View;
  readonly #client: string | undefined;
  readonly #histories = new Map<SessionId, Promise<SessionHistory>>();
  /** Every row of what was planned, whatever the view. */
  readonly #rows = new Map<SessionId, readonly MessageRef[]>();
  readonly #shown = new Map<SessionId, Shown>();
  /** What small sessions were read with. */
  readonly #bodies = new Map<
    SessionId,
    { readonly places: ReturnType<typeof placesIn<MessageRows>>; readonly hasContent: boolean }
  >();
  readonly #plannedMessages = new Map<bigint, Planned<MessageOutline, MessageRows>>();
  /** How many parts a message should have, by its row. */
  readonly #expected = new Map<bigint, number>();
  readonly #plannedParts = new Map<bigint, Planned<PartPlan, PartRows>>();
  readonly #versions = new Map<RowRef["table"], Promise<number>>();
  /** Parts of small sessions, asked for beside their messages: who plans a page of a session wants both. */
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

  /** Where every row of a session stands, and its ends. */
  async standings(session: SessionId): Promise<Standings<LocatedRow>> {
    if (!this.#rows.has(session)) await this.refs(session);
    const rows = locatedRows(this.#rows.get(session) ?? []);
    const history = await this.history(session);
    return standingsOf(history, history.isRecorded ? rows : await withPond(this.#tables, rows));
  }

  /** Which state of a session its messages were planned from; undefined where none is recorded, or nothing was planned. */
  shown(session: SessionId): Shown | undefined {
    return this.#shown.get(session);
  }

  async session(id: SessionId): Promise<SessionOutline | undefined> {
    const summaries = await this.#summaries;
    if (summaries !== undefined) return outlineOf(summaries.get(id));
    const { value, faults } = await this.#outlines("id", [id]);
    const [bad] = faults;
    if (bad !== undefined) throw corrupt(`session ${id}: ${bad.fault.message}`);
    return value[0];
  }

  async children(parents: readonly SessionId[]): Promise<Found<readonly SessionOutline[]>> {
    const summaries = await this.#summaries;
    const { value, faults } =
      summaries === undefined
        ? await this.#outlines("parent_session_id", parents)
        : {
            value: parents.flatMap((id) =>
              summaries.childrenOf(id).flatMap((child) => outlineOf(child) ?? []),
            ),
            faults: [],
          };
    const own = value.filter(({ relation, source_agent }) => this.#isOwn(relation, source_agent));
    return {
      value: own.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1)),
      faults,
    };
  }

  #isOwn(relation: SessionOutline["relation"], agent: string): boolean {
    const client = this.#client;
    return client === undefined || relation !== "resume" || agent.split("/")[0] === client;
  }

  async messages(session: SessionId): Promise<Found<readonly MessageOutline[]>> {
    const { value, faults } = await this.refs(session);
    return { value: this.planned(session, value), faults };
  }

  /** The same, of which nothing is remembered but how many there are: a few of them are `planned` then. */
  async refs(session: SessionId): Promise<Found<readonly MessageRef[]>> {
    void this.#lookAt("messages");
    if (this.#view !== "everything") void this.history(session);
    const ahead = this.#summaries === undefined ? undefined : awaited(this.#lookAhead(session));
    const summary = this.#wants.length === 0 ? undefined : (await this.#summaries)?.get(session);
    const found = await this.#readRefs(session, summary);
    // The states were read beside the rows: what they hold may have been stored just after those were read.
    const isLacking = found.faults.some(({ fault }) => fault.kind === "missing");
    const refs = isLacking ? await this.#readRefs(session, summary) : found;
    if (ahead !== undefined) this.#ahead.set(session, awaited(this.#ifCurrent(ahead)));
    return refs;
  }

  async #readRefs(
    session: SessionId,
    summary: SessionSummary | undefined,
  ): Promise<Found<readonly MessageRef[]>> {
    const { faults, onFault } = faultList();
    const rows = await readMessageRows(this.#tables, session, { wants: this.#wants, summary });
    this.#messages.set(session, new Map());
    if (rows.has("options"))
      this.#bodies.set(session, { places: placesIn(rows), hasContent: rows.has("content") });
    else this.#bodies.delete(session);
    const all = messageRefsIn(rows, session, onFault);
    this.#rows.set(session, all);
    return { value: await this.#inView(all, { session, onFault }), faults };
  }

  /** Remembers where some messages are, so that their parts and bodies can be asked for. */
  planned(session: SessionId, refs: readonly MessageRef[]): readonly MessageOutline[] {
    const located = this.#messages.get(session) ?? new Map<string, bigint>();
    this.#messages.set(session, located);
    const bodies = this.#bodies.get(session);
    return refs.map((ref) => {
      const { row, placed } = ref;
      const plan = outlineOfMessage(ref);
      located.set(plan.id, row);
      if (typeof placed?.parts === "number") this.#expected.set(row, placed.parts);
      const isWhole = plan.role !== "system" || bodies?.hasContent === true;
      this.#plannedMessages.set(row, { plan, body: isWhole ? bodies?.places.get(row) : undefined });
      return plan;
    });
  }

  /** What the view shows of a session, in its order. */
  async #inView(
    refs: readonly MessageRef[],
    { session, onFault }: { readonly session: SessionId; readonly onFault: OnFault },
  ): Promise<readonly MessageRef[]> {
    if (this.#view === "everything") return refs;
    const { rows, shown, missing } = viewOf(await this.history(session), refs, {
      session,
      view: this.#view,
    });
    if (shown !== undefined) this.#shown.set(session, shown);
    for (const name of missing)
      onFault(
        { session_id: session, id: messageId(name) },
        { kind: "missing", message: "a recorded state holds it, and it is not stored" },
      );
    return rows;
  }

  async parts(scope: PartScope): Promise<Found<ReadonlyMap<MessageId, readonly PartPlan[]>>> {
    const { faults, onFault } = faultList();
    void this.#lookAt("parts");
    const rows = this.#parts.get(scope.session) ?? new Map<string, Map<string, bigint>>();
    this.#parts.set(scope.session, rows);
    const value = new Map<MessageId, readonly PartPlan[]>();
    const ahead = await this.#ahead.get(scope.session);
    const places = ahead?.has("options") === true ? placesIn(ahead) : undefined;
    for (const [message, refs] of await readPartRefs(this.#tables, scope, { onFault, ahead })) {
      const own = new Map<string, bigint>();
      rows.set(message, own);
      const plans = refs.map(({ row, ...plan }) => {
        own.set(plan.id, row);
        this.#plannedParts.set(row, { plan, body: places?.get(row) });
        return plan;
      });
      value.set(message, plans);
      const expected = this.#expected.get(this.#messages.get(scope.session)?.get(message) ?? -1n) ?? 0;
      if (plans.length < expected)
        onFault(
          { session_id: scope.session, id: message },
          { kind: "missing", message: `it has ${plans.length} of its ${expected} parts` },
        );
    }
    return { value, faults };
  }

  /** What some messages say, with the facts that pond keeps about them, in the order given. */
  async said(refs: readonly Pick<MessageRef, "row">[]): Promise<readonly Said[]> {
    const rows = refs.map(({ row }) => row);
    const bodies = rows.flatMap((row) => this.#plannedMessages.get(row)?.body ?? []);
    return this.#wants.includes("texts") && bodies.length === rows.length
      ? bodies.map((body) => saidAt(body.rows, body.at))
      : readSaid(this.#tables, rows);
  }

  async resolve(nodes: readonly PlanNode[]): Promise<readonly Outcome<RowRef>[]> {
    const unknown = nodes.filter((node) => this.#rowOf(node) === undefined);
    if (unknown.length > 0) await this.#lookUp(unknown);
    const versions = new Map<string, number>();
    for (const table of new Set(nodes.map(tableOf))) versions.set(table, await this.#lookAt(table));
    return nodes.map((node): Outcome<RowRef> => {
      const row = this.#rowOf(node);
      if (row === undefined) return { ok: false, fault: { kind: "missing", message: "it is not stored" } };
      const table = tableOf(node);
      return { ok: true, value: { table, row, version: versions.get(table) ?? 0 } };
    });
  }

  read(refs: readonly RowRef[]): Promise<readonly Outcome<Event>[]> {
    return readLeaves(this.#tables, refs, {
      payloads: this.#payloads,
      messages: this.#plannedMessages,
      parts: this.#plannedParts,
    });
  }

  #rowOf(node: PlanNode): bigint | undefined {
    if (isPartKey(node)) return this.#parts.get(node.session_id)?.get(node.message_id)?.get(node.id);
    if ("session_id" in node) return this.#messages.get(node.session_id)?.get(node.id);
    return this.#sessions.get(node.id);
  }

  /** For a plan that was made elsewhere: the same queries that would have planned it. */
  async #lookUp(nodes: readonly PlanNode[]): Promise<void> {
    const parts = nodes.filter((node) => isPartKey(node));
    const messages = nodes.filter((node) => tableOf(node) === "messages");
    const sessions = nodes.filter((node) => tableOf(node) === "sessions");
    if (sessions.length > 0)
      await this.#outlines(
        "id",
        sessions.map(({ id }) => sessionId(id)),
      );
    for (const session of new Set(
      messages.map((node) => ("session_id" in node ? node.session_id : undefined)),
    ))
      if (session !== undefined) await this.messages(session);
    for (const [session, own] of Map.groupBy(parts, ({ session_id }) => session_id)) {
      const ids = [...new Set(own.map(({ message_id }) => message_id))];
      await this.parts({ session, messages: ids, of: ids.length });
    }
  }

  async #outlines(
    column: "id" | "parent_session_id",
    values: readonly SessionId[],
  ): Promise<Found<readonly SessionOutline[]>> {
    const { faults, onFault } = faultList();
    void this.#lookAt("sessions");
    const value: SessionOutline[] = [];
    const options = { select: OUTLINE_COLUMNS, withRowId: true };
    for await (const rows of this.#tables.sessions.scanIn(column, values, options))
      for (let row = 0; row < rows.length; row++) {
        const outline = outlineAt(rows, row, onFault);
        if (outline === undefined) continue;
        this.#sessions.set(outline.id, rows.rowId(row));
        value.push(outline);
      }
    return { value, faults };
  }

  /** The parts of a small session, as of a version of their table. */
  async #lookAhead(session: SessionId): Promise<Ahead | undefined> {
    const [summaries, version] = await Promise.all([this.#summaries, this.#lookAt("parts")]);
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
  #lookAt(table: RowRef["table"]): Promise<number> {
    const known = this.#versions.get(table);
    if (known !== undefined) return known;
    const version = awaited(this.#tables[table].version());
    this.#versions.set(table, version);
    return version;
  }
}

/** Asked for ahead: who needs it waits for it later and is told of a fault, and nobody may. */
function awaited<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => undefined);
  return answer;
}

function outlineAt(rows: Rows<typeof SESSIONS>, row: number, onFault: OnFault): SessionOutline | undefined {
  const id = sessionId(rows.string("id", row));
  const micros = rows.timestamp("created_at", row);
  const created_at = timestampFromMicros(micros);
  if (created_at === undefined) {
    onFault({ id }, { kind: "unreadable", message: `it was created at ${micros} microseconds` });
    return undefined;
  }
  const parent = rows.stringOrNull("parent_session_id", row);
  const relation = oneOf(relations, rows.stringOrNull("relation", row));
  return {
    id,
    ...(parent === null ? {} : { parent_session_id: sessionId(parent) }),
    ...(relation === undefined ? {} : { relation }),
    source_agent: rows.string("source_agent", row),
    created_at,
  };
}

/** Written out: a session may have hundreds of thousands. */
function outlineOfMessage(ref: MessageRef): MessageOutline {
  const { session_id, id, seq, timestamp, role, text_bytes, bytes, revises } = ref;
  return {
    session_id,
    id,
    ...(seq === undefined ? {} : { seq }),
    timestamp,
    role,
    ...(text_bytes === undefined ? {} : { text_bytes }),
    bytes,
    ...(revises === undefined ? {} : { revises }),
  };
}

function outlineOf(summary: SessionSummary | undefined): SessionOutline | undefined {
  if (summary === undefined) return undefined;
  const { id, parent_session_id: parent, relation, source_agent, created_at } = summary;
  return {
    id,
    ...(parent === undefined ? {} : { parent_session_id: sessionId(parent) }),
    ...(relation === undefined ? {} : { relation }),
    source_agent,
    created_at,
  };
}

function tableOf(node: PlanNode): RowRef["table"] {
  if (isPartKey(node)) return "parts";
  return "session_id" in node ? "messages" : "sessions";
}

function faultList() {
  const faults: { readonly key: EntityKey; readonly fault: Fault }[] = [];
  const onFault: OnFault = (key, fault) => void faults.push({ key, fault });
  return { faults, onFault };
}
