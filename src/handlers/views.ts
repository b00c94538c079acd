/** Messages and parts in their wire form: texts, summaries of parts, whole parts. Reads the bodies of a page at once. */
import type { Part } from "../model/index.ts";
import { formatTimestamp, openJson } from "../model/index.ts";
import type { MessageRef, PartRef, SessionStore, SessionSummary } from "../sessions/index.ts";
import type { MessageView, PartSummary, ResponseMode, SessionHead, WirePart } from "../wire/index.ts";
import type { Entry } from "./thread.ts";

export interface ViewOptions {
  readonly mode: ResponseMode;
  /** Messages that the session has. */
  readonly of: number;
  readonly payloads: boolean;
}

export async function viewEntries(
  store: SessionStore,
  entries: readonly Entry[],
  options: ViewOptions,
): Promise<MessageView[]> {
  const refs = entries.flatMap(({ members }) => members);
  const [first] = refs;
  if (first === undefined) return [];
  const scope = { session: first.session_id, messages: refs.map(({ id }) => id), of: options.of };
  const [texts, partRefs] = await Promise.all([store.texts(refs), store.partRefs(scope)]);
  const saidBy = new Map(refs.map((ref, at) => [ref.id, texts[at]] as const));
  const isVerbatim = options.mode === "verbatim";
  const all = [...partRefs.values()].flat();
  const bodies = await readBodies(store, isVerbatim ? all : all.filter(needsBody), options);
  return entries.map(({ head, members }) => {
    const said = members.map(({ id }) => saidBy.get(id));
    const text = said.flatMap((each) => each?.text ?? []).join("\n");
    const content = said.flatMap((each) => each?.content ?? []).join("\n");
    const parts = members.flatMap(({ id }) => partRefs.get(id) ?? []);
    const joined = members.filter(({ id }) => id !== head.id).map(({ id }) => id);
    return {
      ...headView(head),
      ...(text === "" ? {} : { text }),
      ...(content === "" ? {} : { content }),
      parts_summary: parts.flatMap((ref) => summaryOf(ref, bodies, options.mode)),
      ...(isVerbatim ? { parts: wholeParts(parts, bodies) } : {}),
      ...(joined.length === 0 ? {} : { joined }),
    };
  });
}

/** Whole parts in their wire form, in the order given. */
export async function viewParts(
  store: SessionStore,
  refs: readonly PartRef[],
  options: { readonly payloads: boolean },
): Promise<WirePart[]> {
  return wholeParts(refs, await readBodies(store, refs, options));
}

/** Summaries of the parts of some messages, for hits. */
export async function summariseParts(
  store: SessionStore,
  messages: readonly (readonly PartRef[])[],
): Promise<readonly PartSummary[][]> {
  const bodies = await readBodies(store, messages.flat().filter(needsBody), { payloads: false });
  return messages.map((parts) => parts.flatMap((ref) => summaryOf(ref, bodies, "conversational")));
}

export function headView(ref: MessageRef): Pick<MessageView, "id" | "seq" | "role" | "timestamp"> {
  const { id, seq, role, timestamp } = ref;
  return { id, ...(seq === undefined ? {} : { seq }), role, timestamp: formatTimestamp(timestamp) };
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

interface Body {
  readonly part: Part;
  /** Bytes of a payload that was not read. */
  readonly omitted: number;
}

type Bodies = ReadonlyMap<bigint, Body>;

async function readBodies(
  store: SessionStore,
  refs: readonly PartRef[],
  { payloads }: { readonly payloads: boolean },
): Promise<Bodies> {
  const [parts, sizes] = await Promise.all([
    store.parts(refs, { payloads }),
    payloads ? new Map<bigint, number>() : store.payloadSizes(refs),
  ]);
  return new Map(
    refs.flatMap(({ row }, at) => {
      const part = parts[at];
      return part === undefined ? [] : [[row, { part, omitted: sizes.get(row) ?? 0 }] as const];
    }),
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
const needsBody = ({ type }: PartRef): boolean =>
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
    return `${part.approval_id} ${part.approved ? "approved" : "denied"}`;
  return ref.tool_name;
}
