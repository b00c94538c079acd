/** Messages and parts in their wire form: texts, summaries of parts, whole parts. Reads the bodies of a page at once. */
import type { EntityKey, Part } from "../../model/index.ts";
import type { MessageOutline, PartNode, PartOutline, TreeIssue } from "../../model/tree/index.ts";
import {
  describeKey,
  formatTimestamp,
  isMessageKey,
  isPartKey,
  openJson,
  timestampFromMicros,
} from "../../model/index.ts";
import { REF } from "../../model/tree/index.ts";
import type { StateHead, EndRows, RowRef, RowStatus, StoredPart } from "../../sessions/states/index.ts";
import type { SessionStore, SessionSummary } from "../../sessions/index.ts";
import type {
  EndView,
  StateView,
  IssueView,
  MessageView,
  PartSummary,
  ResponseMode,
  RowState,
  SessionHead,
  WirePart,
} from "../../wire/index.ts";
import type { Page } from "./page.ts";
import { planPage } from "./page.ts";
import type { OutlinedSession, ShownMessage } from "./shown-messages.ts";

export interface ViewOptions {
  readonly session: OutlinedSession;
  readonly mode: ResponseMode;
  readonly payloads: boolean;
}

export interface Viewed<T> {
  readonly views: readonly T[];
  readonly issues: readonly TreeIssue[];
}

export async function viewMessages(
  store: SessionStore,
  messages: readonly ShownMessage[],
  { session, mode, payloads }: ViewOptions,
): Promise<Viewed<MessageView>> {
  const all = messages.flatMap(({ members }) => members);
  if (all.length === 0) return { views: [], issues: [] };
  const [texts, page] = await Promise.all([session.texts(all), planPage(session, all)]);
  const textOf = new Map(all.map(({ id }, at) => [id, texts[at]] as const));
  const isVerbatim = mode === "verbatim";
  const read = await page.read(isVerbatim ? () => true : needsBody);
  const isOmitting = isVerbatim && !payloads;
  const sizes = isOmitting ? await sizesOf(store, [...read.parts.values()].flat()) : NO_SIZES;
  const views = messages.map(({ head, members, state }) => {
    const own = members.map(({ id }) => textOf.get(id));
    const text = own.flatMap((each) => each?.text ?? []).join("\n");
    const content = own.flatMap((each) => each?.content ?? []).join("\n");
    const parts = members.flatMap(({ id }) => read.parts.get(id) ?? []);
    const joined = members.filter(({ id }) => id !== head.id).map(({ id }) => id);
    return {
      ...headView(head),
      ...(state === undefined ? {} : { state }),
      ...(text === "" ? {} : { text }),
      ...(content === "" ? {} : { content }),
      parts_summary: parts.flatMap((part) => summaryOf(part, mode)),
      ...(isVerbatim ? { parts: wholeParts(parts, sizes) } : {}),
      ...(joined.length === 0 ? {} : { joined }),
    };
  });
  return { views, issues: [...page.issues, ...read.issues] };
}

/** Whole parts of a message of a page in their wire form, in the order given. */
export async function viewParts(
  store: SessionStore,
  parts: readonly PartOutline<RowRef>[],
  { page, payloads }: { readonly page: Page; readonly payloads: boolean },
): Promise<Viewed<WirePart>> {
  const wanted = new Set<string>(parts.map(({ id }) => id));
  const read = await page.read(({ id }) => wanted.has(id));
  const nodes = [...read.parts.values()].flat().filter(({ plan }) => wanted.has(plan.id));
  const sizes = payloads ? NO_SIZES : await sizesOf(store, nodes);
  return { views: wholeParts(nodes, sizes), issues: read.issues };
}

/** Summaries of the parts of some messages, for hits. */
export async function summariseParts(
  store: SessionStore,
  messages: readonly (readonly StoredPart[])[],
): Promise<readonly PartSummary[][]> {
  const wanted = messages.flat().filter(needsBody);
  const found = await store.parts(wanted, { payloads: false });
  const bodies = new Map(wanted.map((part, at) => [part, found[at]]));
  return messages.map((parts) =>
    parts.flatMap((plan) => {
      const part = bodies.get(plan);
      return summaryOf(part === undefined ? { plan } : { plan, part }, "conversational");
    }),
  );
}

export function headView(message: MessageOutline): Pick<MessageView, "id" | "seq" | "role" | "timestamp"> {
  const { id, seq, role, timestamp } = message;
  return { id, ...(seq === undefined ? {} : { seq }), role, timestamp: formatTimestamp(timestamp) };
}

/** How the wire names where a row stands; nothing for what is in the newest end. */
export function rowState(status: RowStatus | undefined): RowState | undefined {
  if (status === undefined || status === "current") return undefined;
  return status === "end" ? "other_end" : status;
}

/** The ends of a session that has several, the newest first. */
export function stateViews(states: readonly StateHead[]): readonly StateView[] {
  return states.flatMap(({ source, path, reader, form, state, records, read_at, whole }) => {
    const at = timestampFromMicros(read_at);
    if (at === undefined) return [];
    return [
      { source: { id: source, path, reader, form }, state, records, read_at: formatTimestamp(at), whole },
    ];
  });
}

/** `mapped`: the files that restores with mapped paths wrote. */
export function endViews(ends: readonly EndRows[], mapped: ReadonlySet<string>): readonly EndView[] {
  return ends.map(({ state, partedAfter }, at) => {
    const { source, path, reader, form, records } = state;
    const last = state.recorded_at === undefined ? undefined : timestampFromMicros(state.recorded_at);
    return {
      end: at + 1,
      source: { id: source, path, reader, form },
      records,
      ...(last === undefined ? {} : { last_at: formatTimestamp(last) }),
      ...(partedAfter === undefined ? {} : { parted_after: partedAfter }),
      ...(mapped.has(path) ? { mapped_paths: true as const } : {}),
    };
  });
}

export function sessionHead(summary: SessionSummary): SessionHead {
  const { id, title, source_agent, project, created_at } = summary;
  const { parent_session_id, parent_message_id, relation } = summary;
  return {
    id,
    ...(title === undefined ? {} : { title }),
    source_agent,
    project,
    created_at: formatTimestamp(created_at),
    ...(parent_session_id === undefined ? {} : { parent_session_id }),
    ...(parent_message_id === undefined ? {} : { parent_message_id }),
    ...(relation === undefined ? {} : { relation }),
  };
}

/** What of an answer cannot be read, each once; nothing where all of it can. */
export function issueViews(issues: readonly TreeIssue[]): { readonly issues?: readonly IssueView[] } {
  const views = new Map<string, IssueView>();
  for (const { key, kind, message } of issues)
    if (kind !== "cut" && kind !== "cycle") views.set(describeKey(key), { ...placeOf(key), kind, message });
  return views.size === 0 ? {} : { issues: [...views.values()] };
}

function placeOf(key: EntityKey): Pick<IssueView, "session_id" | "message_id" | "part_id"> {
  if (isPartKey(key)) return { session_id: key.session_id, message_id: key.message_id, part_id: key.id };
  return isMessageKey(key) ? { session_id: key.session_id, message_id: key.id } : { session_id: key.id };
}

/** Bytes of payloads that were not read, by row. */
type Sizes = ReadonlyMap<bigint, number>;

const NO_SIZES: Sizes = new Map();

const sizesOf = (store: SessionStore, parts: readonly PartNode<RowRef>[]): Promise<Sizes> =>
  store.payloadSizes(parts.map(({ plan }) => plan));

const wholeParts = (parts: readonly PartNode<RowRef>[], sizes: Sizes): WirePart[] =>
  parts.flatMap(({ plan, part }) => {
    const row = plan[REF]?.row;
    return part === undefined ? [] : [wirePart(part, row === undefined ? 0 : (sizes.get(row) ?? 0))];
  });

/** The canonical part as JSON; `omitted` are the bytes of a payload that was not read. */
function wirePart(part: Part, omitted: number): WirePart {
  if (part.type === "tool_call") {
    const { params, ...rest } = part;
    return params === undefined ? rest : { ...rest, params: openJson(params) };
  }
  if (part.type === "tool_result") {
    const { result, ...rest } = part;
    return result === undefined ? rest : { ...rest, result: openJson(result) };
  }
  if (part.type !== "file") return part;
  const { data } = part;
  if (omitted > 0) return { ...part, data: { kind: data.kind, omitted_bytes: omitted } };
  if (data.kind !== "bytes") return { ...part, data };
  return { ...part, data: { kind: "bytes", value: Buffer.from(data.value).toString("base64") } };
}

/** Types whose label is in their body. */
const needsBody = ({ type }: PartOutline): boolean =>
  type === "file" || type === "tool_approval_request" || type === "tool_approval_response";

/** None for what the text says already; reasoning and injected text only where everything is listed. */
function summaryOf({ plan, part }: PartNode, mode: ResponseMode): PartSummary[] {
  const { type: kind, provenance, call_id, is_failure } = plan;
  if (kind === "text" || kind === "reasoning") {
    if (mode === "conversational" || (kind === "text" && provenance === "conversational")) return [];
    return [{ kind, ...(provenance === "injected" ? { label: "injected" } : {}) }];
  }
  const label = labelOf(plan, part);
  return [
    {
      kind,
      ...(label === undefined ? {} : { label }),
      ...(call_id === undefined ? {} : { call_id }),
      ...(is_failure === undefined ? {} : { is_failure }),
    },
  ];
}

function labelOf(plan: PartOutline, part: Part | undefined): string | undefined {
  if (part?.type === "file") return part.file_name ?? part.media_type;
  if (part?.type === "tool_approval_request") return part.approval_id;
  if (part?.type === "tool_approval_response")
    return part.approved === undefined
      ? part.approval_id
      : `${part.approval_id} ${part.approved ? "approved" : "denied"}`;
  return plan.tool_name;
}
