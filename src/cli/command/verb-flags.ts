/** The flags of the verbs, as data: the table lists them, the verb's function is typed by them. */
import type { Stage } from "../../wire/sync.ts";
import type { FlagSpec, FlagTable } from "./flags.ts";

export const STAGES = ["import", "embed", "update-indexes"] as const satisfies readonly Stage[];

export const syncFlags = {
  adapter: { type: "list", value: "client", summary: "Only this client (may be given several times)" },
  path: {
    type: "list",
    value: "folder",
    summary: "Read this folder or file instead of the client's default place; with --adapter",
  },
  only: { type: "list", value: "stage", choices: STAGES, summary: "Run only this stage" },
  skip: { type: "list", value: "stage", choices: STAGES, summary: "Skip this stage" },
  "dry-run": { type: "boolean", summary: "Count what is new; write nothing" },
  verify: { type: "boolean", summary: "Read every source again, changed or not" },
  "force-embed": { type: "boolean", summary: "Embed every message again under the configured model" },
  wait: { type: "boolean", summary: "Wait for another running sync instead of failing" },
} as const satisfies FlagTable;

export const initFlags = {
  yes: { type: "boolean", short: "y", summary: "Use the defaults; ask nothing" },
} as const satisfies FlagTable;

const MAP_PATH = {
  type: "list",
  value: "old=new",
  summary: "Rewrite recorded folders for this machine",
} as const satisfies FlagSpec;

/** Which state of a session. */
const stateFlags = {
  end: {
    type: "integer",
    value: "n",
    example: 1,
    summary: "Which end of a session that diverged (1 = newest)",
  },
  source: { type: "string", value: "path", summary: "The session as this source had it: its path or id" },
  state: {
    type: "integer",
    value: "n",
    example: 1,
    summary: "Number of an earlier state of the source (--source is needed if there are several)",
  },
} as const satisfies FlagTable;

export const restoreFlags = {
  to: {
    type: "string",
    value: "client",
    summary: "Restore into this client (pond adapters lists them); default: the session's own",
  },
  out: {
    type: "string",
    value: "folder",
    summary: "Write below this folder instead of the client's own place",
  },
  "map-path": MAP_PATH,
  "dry-run": {
    type: "boolean",
    summary: "Show files, losses, tokens and how to resume; write nothing",
  },
  ...stateFlags,
} as const satisfies FlagTable;

export const resumeFlags = {
  in: {
    type: "string",
    value: "client",
    summary: "Resume in this client (pond adapters lists them); default: the session's own",
  },
  "map-path": MAP_PATH,
  "dry-run": { type: "boolean", summary: "Print the command; write nothing, start nothing" },
  ...stateFlags,
} as const satisfies FlagTable;

export const verifyFlags = {
  adapter: { type: "list", value: "client", summary: "Only this client (may be given several times)" },
  path: { type: "list", value: "folder", summary: "Compare with this folder or file; with --adapter" },
  stored: {
    type: "boolean",
    summary:
      "Read every byte that is stored and prove every recorded state by its digest; no source is opened",
  },
} as const satisfies FlagTable;

export const doctorFlags = {
  deep: { type: "boolean", summary: "Read every byte of the store and compare it with what was written" },
} as const satisfies FlagTable;

export const demoFlags = {
  keep: { type: "boolean", summary: "Keep the temporary home, so that you can look around in it" },
} as const satisfies FlagTable;

export const sessionsFlags = {
  project: { type: "string", value: "text", summary: "Only projects whose path contains this" },
  agent: {
    type: "string",
    value: "client",
    summary: "Only this client, or one of its agents: claude-code/Explore",
  },
  title: { type: "string", value: "words", summary: "Only titles with these words" },
  from: {
    type: "string",
    value: "day",
    summary: "Active on or after this day (YYYY-MM-DD) of this machine's zone",
  },
  to: { type: "string", value: "day", summary: "Active on or before this day (YYYY-MM-DD)" },
  parent: { type: "string", value: "session", summary: "Only the children of this session" },
  subagents: { type: "boolean", summary: "Include sessions of subagents" },
  limit: { type: "integer", value: "n", summary: "At most this many sessions (default 50)" },
  page: { type: "integer", value: "n", summary: "This page, counted from 1" },
  cursor: {
    type: "string",
    value: "token",
    summary: "Continue from the previous page",
  },
} as const satisfies FlagTable;

export const getFlags = {
  message: {
    type: "string",
    value: "id",
    summary: "One message of the session, in full, with its neighbours",
  },
  mode: {
    type: "string",
    choices: ["conversational", "complete", "verbatim"],
    value: "mode",
    summary: "The conversation, every record, or every record with its parts",
  },
  from: {
    type: "string",
    choices: ["start", "end"],
    value: "end",
    summary: "Read from the start or from the end",
  },
  after: { type: "string", value: "id", summary: "Continue after this message (or part, with --message)" },
  before: { type: "string", value: "id", summary: "The page that ends before this message" },
  branch: {
    type: "string",
    choices: ["active", "all"],
    value: "branch",
    summary: "Which branches to show",
  },
  end: {
    type: "integer",
    value: "n",
    example: 1,
    summary: "Which end of a session that diverged (1 = newest)",
  },
  history: { type: "boolean", summary: "Every stored row, including replaced and removed ones, each marked" },
  context: { type: "integer", value: "n", summary: "With --message: neighbours on each side (default 3)" },
  limit: { type: "integer", value: "n", summary: "At most this many messages (default 20)" },
} as const satisfies FlagTable;

export const searchFlags = {
  mode: {
    type: "string",
    choices: ["words", "exact", "regex"],
    value: "mode",
    summary: "By words (default), by exact text, or by a regular expression",
  },
  in: {
    type: "string",
    choices: ["text", "tools", "all"],
    value: "where",
    summary:
      "With --mode exact or regex: in the conversation, in tool calls and results, or in everything (default)",
  },
  project: { type: "string", value: "text", summary: "Only projects whose path contains this" },
  agent: { type: "string", value: "client", summary: "Only this client, or one of its agents" },
  session: { type: "string", value: "id", summary: "Only this session; the beginning of its id is enough" },
  role: {
    type: "string",
    choices: ["user", "assistant"],
    value: "role",
    summary: "Only messages of this role",
  },
  from: {
    type: "string",
    value: "day",
    summary: "On or after this day (YYYY-MM-DD) of this machine's zone",
  },
  to: { type: "string", value: "day", summary: "On or before this day (YYYY-MM-DD)" },
  "similar-to": {
    type: "string",
    value: "message",
    summary: "Instead of words: messages that are like this one, by its vector",
  },
  tool: { type: "string", value: "name", summary: "Only what this tool was called for or gave" },
  failed: { type: "boolean", summary: "Only results that failed, or messages with such a call" },
  subagents: { type: "boolean", summary: "Include sessions of subagents" },
  superseded: { type: "boolean", summary: "Include replaced versions of rewritten records, marked" },
  limit: { type: "integer", value: "n", summary: "At most this many sessions (default 10)" },
  page: { type: "integer", value: "n", summary: "This page, counted from 1" },
  cursor: {
    type: "string",
    value: "token",
    summary: "Continue from the previous page",
  },
  explain: { type: "boolean", summary: "Show the engine's plan and the scores of each arm instead" },
} as const satisfies FlagTable;
