/** opencode for histories: the same session as a tree of JSON files and as rows of a database; the second is a subagent. */
import type { JsonObject, JsonValue } from "../../../src/base/json/json.ts";
import type { Draft, Entry, Rows, SessionNumber, SourceModel, State } from "./source-model.ts";
import { canonical, START } from "./source-model.ts";

const PROJECT = "b51df34b24502f63d708f5a8611fdff0551b1151";
const DATABASE = "opencode.db";
const idOf = (session: SessionNumber): string => `ses_e1dfc6e09ffe3lAwy288Lt000${session}`;
const infoPath = (session: SessionNumber): string => `storage/session/${PROJECT}/${idOf(session)}.json`;

const shared = {
  adapter: "opencode",
  isLog: false,
  heads: 1,
  storedId: idOf,
  start: (session: SessionNumber): State => ({ entries: [infoOf(session)], sides: {} }),
  append: (state: State, draft: Draft, session: SessionNumber): State => {
    const [info, ...messages] = state.entries;
    const touched = { ...info!, value: { ...info!.value, time: { created: START, updated: draft.at } } };
    return {
      ...state,
      entries: [{ ...touched, at: draft.at }, ...messages, messageOf(messages, draft, session)],
    };
  },
  sideContent: (choice: "A" | "B"): string =>
    JSON.stringify([
      { file: "plan.md", before: "", after: choice === "A" ? "# Plan" : "Done", additions: 1 },
    ]),
};

export const opencodeTree: SourceModel = {
  ...shared,
  label: "opencode tree",
  container: { kind: "files" },
  path: infoPath,
  sideNames: () => ["session_diff", "todo"],
  files: (session, state) =>
    new Map([...treeOf(session, state)].map(([path, value]) => [path, JSON.stringify(value)])),
  records: (session, state) =>
    new Map([...treeOf(session, state)].map(([path, value]) => [path, [canonical(value)]])),
};

export const opencodeDatabase: SourceModel = {
  ...shared,
  label: "opencode database",
  container: { kind: "database", path: DATABASE },
  path: () => DATABASE,
  sideNames: () => ["session_diff"],
  files: (session, { sides }) => new Map(sideFiles(session, sides)),
  rows: rowsOf,
  records: (session, state) => {
    const records = new Map<string, readonly string[]>();
    const rows = Object.entries(rowsOf(session, state)).flatMap(([table, own]) =>
      own.map((row) => canonicalRow(table, row)),
    );
    records.set(DATABASE, rows.toSorted());
    for (const [path, text] of sideFiles(session, state.sides))
      records.set(path, [canonical(JSON.parse(text))]);
    return records;
  },
};

/** A row as text; columns without a value are as if they were not there. */
export function canonicalRow(table: string, row: Readonly<Record<string, JsonValue>>): string {
  const columns = Object.entries(row).filter(([, value]) => value !== null);
  return `${table} ${canonical(Object.fromEntries(columns))}`;
}

function infoOf(session: SessionNumber): Entry {
  const value = {
    id: idOf(session),
    slug: "gentle-garden",
    projectID: PROJECT,
    directory: "/home/me/app",
    ...(session === 1 ? { parentID: idOf(0) } : {}),
    title: "Garden questions",
    version: "1.18.33",
    time: { created: START, updated: START },
  };
  return { id: idOf(session), value, at: START };
}

/** Ids of the client rise with time. */
const numbered = (kind: string, number: number): string =>
  `${kind}_1e20392570${String(number).padStart(6, "0")}garden`;

function messageOf(before: readonly Entry[], draft: Draft, session: SessionNumber): Entry {
  const { turn, number, word, at } = draft;
  const id = numbered("msg", number);
  const isAnswer = turn === "answer" || turn === "tool";
  const value = isAnswer
    ? {
        id,
        sessionID: idOf(session),
        role: "assistant",
        parentID: before.at(-1)?.id ?? "",
        time: { created: at, completed: at + 5 },
        modelID: "m",
        providerID: "p",
        mode: "build",
        agent: "build",
        path: { cwd: "/home/me/app", root: "/home/me/app" },
        cost: 0,
        tokens: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } },
        finish: turn === "tool" ? "tool-calls" : "stop",
      }
    : {
        id,
        sessionID: idOf(session),
        role: "user",
        time: { created: at },
        agent: "build",
        model: { providerID: "p", modelID: "m" },
      };
  const parts = partsOf(draft).map((part, index): Entry => {
    const part_id = numbered("prt", number * 4 + index);
    return { id: part_id, value: { id: part_id, sessionID: idOf(session), messageID: id, ...part }, at };
  });
  return { id, value, parts, word, at };
}

function partsOf({ turn, word, number, at }: Draft): readonly JsonObject[] {
  if (turn === "answer")
    return [
      { type: "step-start" },
      { type: "text", text: `It is ${word}.`, time: { start: at, end: at + 4 } },
      { type: "step-finish", reason: "stop", cost: 0, tokens: { input: 1, output: 1 } },
    ];
  if (turn !== "tool") return [{ type: "text", text: `Look at ${word}.` }];
  const state = {
    status: "completed",
    input: { command: `cat ${word}` },
    output: `${word} is empty`,
    title: "cat",
    metadata: { exit: 0 },
    time: { start: at, end: at + 4 },
  };
  return [{ type: "step-start" }, { type: "tool", tool: "bash", callID: `call_${number}`, state }];
}

const sideFiles = (session: SessionNumber, sides: State["sides"]): readonly (readonly [string, string])[] =>
  Object.entries(sides).map(([name, text]) => [`storage/${name}/${idOf(session)}.json`, text] as const);

function treeOf(session: SessionNumber, { entries, sides }: State): ReadonlyMap<string, JsonValue> {
  const [info, ...messages] = entries;
  const files = new Map<string, JsonValue>([
    [
      `storage/project/${PROJECT}.json`,
      { id: PROJECT, worktree: "/home/me/app", vcs: "git", time: { created: START } },
    ],
    [infoPath(session), info!.value],
  ]);
  for (const { id, value, parts = [] } of messages) {
    files.set(`storage/message/${idOf(session)}/${id}.json`, value);
    for (const part of parts) files.set(`storage/part/${id}/${part.id}.json`, part.value);
  }
  for (const [path, text] of sideFiles(session, sides)) files.set(path, JSON.parse(text) as JsonValue);
  return files;
}

/** Ids and links are columns there; the rest is JSON in `data`. */
function rowsOf(_session: SessionNumber, { entries }: State): Rows {
  const [info, ...messages] = entries;
  const { time: _, projectID, parentID, ...plain } = info!.value;
  const message = messages.map(({ id, value: { id: _id, sessionID, ...data }, at }) => ({
    id,
    session_id: sessionID ?? null,
    time_created: createdAt(data),
    time_updated: at,
    data,
  }));
  const part = messages.flatMap(({ value, parts = [] }) =>
    parts.map(({ id, value: { id: _id, sessionID, messageID, ...data }, at }) => ({
      id,
      message_id: messageID ?? null,
      session_id: sessionID ?? null,
      time_created: createdAt(value),
      time_updated: at,
      data,
    })),
  );
  const row = {
    ...plain,
    project_id: projectID ?? null,
    parent_id: parentID ?? null,
    cost: 0,
    tokens_input: 0,
    tokens_output: 0,
    tokens_reasoning: 0,
    tokens_cache_read: 0,
    tokens_cache_write: 0,
    time_created: START,
    time_updated: info!.at,
  };
  return { session: [row], message, part };
}

/** Rewriting a record leaves alone when it was made. */
function createdAt({ time }: JsonObject): number {
  return (time as { readonly created: number }).created;
}
