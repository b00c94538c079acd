/** What clients write themselves around a history: texts for their own model, and the lines in which they frame what a log says. */
import type { Sent } from "./requests.ts";

/** Made anew for each request, from the machine and the client's settings. */
const OWN: readonly RegExp[] = [
  /^<system-reminder>\s*As you answer the user's questions/,
  /^(?:<system-reminder>\s*)?Available agent types/,
  /^(?:<system-reminder>\s*)?The following (?:skills are available|agent types are|deferred tools are)/,
  /^<environment_context>/,
  /^<(?:permissions instructions|skills_instructions|model_switch|collaboration_mode|apps_instructions|plugins_instructions)/,
  /^# AGENTS\.md instructions/,
  /^# Environment/,
  /^(?:<system-reminder>\s*)?Attribution for git commits/,
  /^You are (?:Codex|a coding agent)/,
  /^Continue from where you left off\.$/,
  /^No response requested\.$/,
];

export function isOwn({ text }: Extract<Sent, { kind: "text" }>): boolean {
  return OWN.some((pattern) => pattern.test(text));
}

/** Of a text that says what a log says in words of the client's own: its first and last lines. */
const FRAMES: readonly RegExp[] = [
  /^\s*$/,
  /^<\/?(?:summary|system-reminder)>$/,
  /^```$/,
  /^Ran `.*`$/,
  /^The conversation history before this point was compacted into the following summary:$/,
  /^What did we do so far\?$/,
  /^\[SYSTEM NOTIFICATION - NOT USER INPUT\]$/,
  /^This is an automated background-task event, NOT a message from the user\.$/,
  /^No human input has been received since the last genuine user message/,
  /^Do NOT interpret this as user acknowledgement/,
  /^The user sent a new message while you were working:$/,
  /^IMPORTANT: (?:After completing your current task|This is NOT from your user)/,
  /^Called the Read tool with the following input:/,
  /^Result of calling the Read tool:/,
  /^Note: .* was modified, either by the user or by a linter/,
  /^"Go on from here"$/,
  /^\(see attached image\)$/,
  /^No result (?:provided|was recorded\.)$/,
  /^\[Tool execution was interrupted\]$/,
  /^aborted$/,
];

export function isFrame(line: string): boolean {
  return FRAMES.some((pattern) => pattern.test(line.trim()));
}

/** A line without what a client puts before it: the number of a line of a file, or who says it. */
export function unframed(line: string): string {
  return line.replace(
    /^\s*\d+(?:\t|\u2192|: )|^(?:<system-reminder>)?\w+(?::\w+)? hook additional context: /,
    "",
  );
}
