/** Messages and parts in their wire form: texts, summaries of parts, whole parts. Reads the bodies of a page at once. */
import type { EntityKey, Part, PartPlan, TreeIssue } from "../model/index.ts";
import {
  describeKey,
  formatTimestamp,
  isMessageKey,
  isPartKey,
  openJson,
  timestampFromMicros,
} from "../model/index.ts";
import type {
  StateHead,
  EndRows,
  MessageRef,
  PartRef,
  SessionStore,
  SessionSummary,
  Standing,
} from "../sessions/index.ts";
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
} from "../wire/index.ts";
import type { Page, PlannedSession } from "./page.ts";
import { planPage } from "./page.ts";
import type { Entry } from "./thread.ts";

export interface ViewOptions {
  readonly session: PlannedSession;
  readonly mode: ResponseMode;
  readonly payloads: boolean;
}

export interface Viewed<T> {
  readonly views: readonly T[];
  readonly issues: readonly TreeIssue[];
}

export async function viewEntries(
  store: SessionStore,
  entries: readonly Entry[],
  options: ViewOptions,
): Promise<Viewed<MessageView>> {
  const refs = entries.flatMap(({ members }) => members);
  if (refs.length === 0) return { views: [], issues: [] };
  const [texts, page] = await Promise.all([options.session.texts(refs), planPage(options.session, refs)]);
  const saidBy = new Map(refs.map((ref, at) => [ref.id, texts[at]] as const));
  const isVerbatim = options.mode === "verbatim";
  const all = [...page.parts.values()].flat();
  const wanted = isVerbatim ? all : all.filter(needsBody);
  const read = await page.read(isVerbatim ? () => true : needsBody);
  const bodies = await withSizes(store, wanted, { bodies: read.bodies, payloads: options.payloads });
  const views = entries.map(({ head, members, state }) => {
    const said = members.map(({ id }) => saidBy.get(id));
    const text = said.flatMap((each) => each?.text ?? []).join("\n");
    const content = said.flatMap((each) => each?.content ?? []).join("\n");
    const parts = members.flatMap(({ id }) => page.parts.get(id) ?? []);
    const joined = members.filter(({ id }) => id !== head.id).map(({ id }) => id);
    return {
      ...headView(head),
      ...(state === undefined ? {} : { state }),
      ...(text === "" ? {} : { text }),
      ...(content === "" ? {} : { content }),
      parts_summary: parts.flatMap((ref) => summaryOf(ref, bodies, options.mode)),
      ...(isVerbatim ? { parts: wholeParts(parts, bodies) } : {}),
      ...(joined.length === 0 ? {} : { joined }),
    };
  });
  return { views, issues: [...page.issues, ...read.issues] };
}

/** Whole parts of a page in their wire form, in the order given. */
export async function viewParts(
  store: SessionStore,
  refs: readonly PartRef[],
  { page, payloads }: { readonly page: Page; readonly payloads: boolean },
): Promise<Viewed<WirePart>> {
  const wanted = new Set<string>(refs.map(({ id }) => id));
  const { bodies, issues } = await page.read(({ id }) => wanted.has(id));
  return { views: wholeParts(refs, await withSizes(store, refs, { bodies, payloads })), issues };
}

/** Summaries of the parts of some messages, for hits. */
export async function summariseParts(
  store: SessionStore,
  messages: readonly (readonly PartRef[])[],
): Promise<readonly PartSummary[][]> {
  const wanted = messages.flat().filter(needsBody);
  const found = await store.parts(wanted, { payloads: false });
  const bodies = new Map(
    wanted.flatMap(({ row }, at) => {
      const part = found[at];
      return part === undefined ? [] : [[row, { part, omitted: 0 }] as const];
    }),
  );
  return messages.map((parts) => parts.flatMap((ref) => summaryOf(ref, bodies, "conversational")));
}

export function headView(ref: MessageRef): Pick<MessageView, "id" | "seq" | "role" | "timestamp"> {
  const { id, seq, role, timestamp } = ref;
  return { id, ...(seq === undefined ? {} : { seq }), role, timestamp: formatTimestamp(timestamp) };
}

/** How the wire names where a row stands; nothing for what is in the newest end. */
export function rowState(standing: Standing | undefined): RowState | undefined {
  if (standing === undefined || standing === "current") return undefined;
  return standing === "end" ? "other_end" : standing;
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

interface Body {
  readonly part: Part;
  /** Bytes of a payload that was not read. */
  readonly omitted: number;
}

type Bodies = ReadonlyMap<bigint, Body>;

/** With the sizes of payloads where they were not read. */
async function withSizes(
  store: SessionStore,
  refs: readonly PartRef[],
  read: { readonly bodies: ReadonlyMap<bigint, Part>; readonly payloads: boolean },
): Promise<Bodies> {
  const sizes = read.payloads ? new Map<bigint, number>() : await store.payloadSizes(refs);
  return new Map(
    [...read.bodies].map(([row, part]) => [row, { part, omitted: sizes.get(row) ?? 0 }] as const),
  );
}

const wholeParts = (refs: readonly PartRef[], bodies: Bodies): WirePart[] =>
  refs.flatMap(({ row }) => {
    const body = bodies.get(row);
    return body === undefined ? [] : [wirePart(body)];
  });

/** The canonical part as JSON. */
function wirePart({ part, omitted }: Body): WirePart {
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
const needsBody = ({ type }: PartPlan): boolean =>
  type === "file" || type === "tool_approval_request" || type === "tool_approval_response";

/** None for what the text says already; reasoning and injected text only where everything is listed. */
function summaryOf(ref: PartRef, bodies: Bodies, mode: ResponseMode): PartSummary[] {
  const { type: kind, call_id, is_failure } = ref;
  if (kind === "text" || kind === "reasoning") {
    if (mode === "conversational" || (kind === "text" && ref.provenance === "conversational")) return [];
    return [{ kind, ...(ref.provenance === "injected" ? { label: "injected" } : {}) }];
  }
  const label = labelOf(ref, bodies.get(ref.row)?.part);
  return [
    {
      kind,
      ...(label === undefined ? {} : { label }),
      ...(call_id === undefined ? {} : { call_id }),
      ...(is_failure === undefined ? {} : { is_failure }),
    },
  ];
}

function labelOf(ref: PartRef, part: Part | undefined): string | undefined {
  if (part?.type === "file") return part.file_name ?? part.media_type;
  if (part?.type === "tool_approval_request") return part.approval_id;
  if (part?.type === "tool_approval_response")
    return part.approved === undefined
      ? part.approval_id
      : `${part.approval_id} ${part.approved ? "approved" : "denied"}`;
  return ref.tool_name;
}
