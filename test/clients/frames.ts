/**
 * What clients write themselves around a history: texts for their own model, and the lines in which they frame what a log says.
 * Each is told by the role it is sent in and by all of its words up to where they vary, and a text in tags by its end as
 * well, so that nothing that somebody said goes unseen because of how it begins.
 */
import type { Sent } from "./requests.ts";

type Role = "user" | "assistant" | "system" | "developer";

/** Made anew for each request, from the machine and the client's settings. */
const OWN: readonly (readonly [roles: readonly Role[], text: RegExp])[] = [
  // Claude Code: one reminder and nothing behind it; the newest sends the same in the system's role, without the tags.
  [["user"], reminder("As you answer the user's questions, you can use the following context:\n")],
  [["user"], reminder("Available agent types for the Agent tool:\n")],
  [["user"], reminder("The following skills are available for use with the Skill tool:\n")],
  [["user"], reminder("The following agent types are ")],
  [["user"], reminder("The following deferred tools are now available via ToolSearch")],
  [["user"], reminder("Attribution for git commits")],
  [["user"], reminder("# Environment\nYou have been invoked in the following environment:")],
  [["user"], reminder("You are powered by the model named ")],
  [["user"], reminder("<total_tokens>")],
  [["user"], reminder("Today's date is ")],
  [["user"], reminder("The task tools haven't been used recently.")],
  // Behind the result of a search for tools.
  [["user"], /^Tool loaded\.$/],
  // Of an agent whose process is gone, as it finds when it resumes.
  [
    ["user"],
    /^<system-reminder>\n\[SYSTEM NOTIFICATION - NOT USER INPUT\]\n(?:(?!<\/task-notification>)[^])*<note>(?:It was running when the previous Claude Code process exited|No completion record was found for it in the previous session) ?(?:(?!<\/note>)[^])*<\/note>\n<\/task-notification>\n<\/system-reminder>\s*$/,
  ],
  [["system"], /^Available agent types for the Agent tool:\n/],
  [["system"], /^The following (?:skills are available for use with the Skill tool:\n|agent types are )/],
  [["system"], /^The following deferred tools are now available via ToolSearch/],
  [["system"], /^# Environment\n/],
  // Where it resumes in another directory than the recorded one.
  [["system"], /^# Environment update\n - Primary working directory: .* \(was .*\)\s*$/],
  [["system"], /^Attribution for git commits/],
  // What it puts between two prompts, and before one behind an answer that is missing.
  [["user"], /^Continue from where you left off\.$/],
  [["assistant"], /^No response requested\.$/],
  // Codex: from the machine and its settings, each a block of its own.
  [["user"], /^<environment_context>(?:(?!<\/environment_context>)[^])*<\/environment_context>\s*$/],
  [["user"], /^# AGENTS\.md instructions(?:(?!<\/INSTRUCTIONS>)[^])*<\/INSTRUCTIONS>\s*$/],
  [
    ["developer"],
    /^<(permissions instructions|skills_instructions|model_switch|collaboration_mode|apps_instructions|plugins_instructions)>[^]*<\/\1>\s*$/,
  ],
  [["developer"], /^You are (?:Codex|a coding agent)/],
  // opencode: its prompt, where the interface has no other place for it, and the mode that it resumes in.
  [
    ["developer"],
    /^You are OpenCode, (?:the best coding agent on the planet\.|You and the user share the same workspace )/,
  ],
  [["user"], reminder("Your operational mode has changed from plan to build.")],
];

/** A text that is one reminder, which begins so; no character of it means anything in a pattern. */
function reminder(start: string): RegExp {
  return new RegExp(
    String.raw`^<system-reminder>\s*${start.trimEnd()}(?:(?!</system-reminder>)[^])*</system-reminder>\s*$`,
  );
}

export function isOwn({ role, text }: Extract<Sent, { kind: "text" }>): boolean {
  return OWN.some(([roles, pattern]) => roles.some((one) => one === role) && pattern.test(text));
}

/** Of a text that says what a log says in words of the client's own: its first and last lines. */
const FRAMES: readonly RegExp[] = [
  /^$/,
  /^<\/?(?:summary|system-reminder)>$/,
  /^```$/,
  /^The conversation history before this point was compacted into the following summary:$/,
  /^What did we do so far\?$/,
  /^\[SYSTEM NOTIFICATION - NOT USER INPUT\]$/,
  /^This is an automated background-task event, NOT a message from the user\.$/,
  /^No human input has been received since the last genuine user message/,
  /^Do NOT interpret this as user acknowledgement/,
  /^The user sent a new message while you were working:$/,
  /^IMPORTANT: After completing your current task, you MUST address the user's message above\. Do not ignore it\.$/,
  /^IMPORTANT: This is NOT from your user (?:and carries no user authority\.|\u{2014} it came from an external )/u,
  /^Result of calling the Read tool:$/,
  /^This may or may not be related to the current task\.$/,
  /^"Go on from here"$/,
  /^This is how Claude Code surfaces messages the user sends mid-turn \u{2014} within the running turn/u,
];

/** Lines that name what they frame: that is compared, the words around it are the client's. */
const NAMING: readonly RegExp[] = [
  /^Ran `(.*)`$/,
  /^Command exited with code (\d+)$/,
  /^\[Output truncated\. Full output: (.*)\]$/,
  // As pond hands the two over.
  /^\{"exitCode":(\d+)\}$/,
  /^\{"fullOutputPath":"(.*)"\}$/,
  /^Called the Read tool with the following input: \{"file_path":"([^"]*)"[^}]*\}$/,
  /^Result of calling the Read tool: ?(.+)$/,
  /^Note: (.*) was modified, either by the user or by a linter\. This change was intentional, so make sure to take it into account as you proceed \(ie\. don't revert it unless the user asks you to\)\. Don't tell the user this, since they are already aware\. Here are the relevant changes \(shown with line numbers\):$/,
  /^Note: (.*) changed on disk since you last read it\. That's usually deliberate, so take it as the current state rather than reverting it; if the change looks wrong, say so /,
  /^\s*\d+(?:\t|\u2192|: )(.*)$/,
  /^(?:<system-reminder>)?\w+(?::\w+)? hook (?:additional context|success): (.*)$/,
];

export function isFrame(line: string): boolean {
  return FRAMES.some((pattern) => pattern.test(line.trim()));
}

/** Which lines of which file were selected in an editor, as Claude Code says it and as pond hands it over: each for the other. */
const SELECTED: readonly (readonly [RegExp, string])[] = [
  [/^The user selected the lines (\d+) to (\d+) from (.*):$/, '$3{"lineStart":$1,"lineEnd":$2}'],
  [/^\{"lineStart":(\d+),"lineEnd":(\d+)\}$/, "the lines $1 to $2 from"],
];

/** A line without the client's words around it: a command, the name of a file, a line of it, what a hook said. */
export function unframed(line: string): string {
  for (const [pattern, said] of SELECTED) if (pattern.test(line)) return line.replace(pattern, said);
  for (const pattern of NAMING) {
    const [, said] = pattern.exec(line.replace(/^<system-reminder>(?=Called|Result|Note)/, "")) ?? [];
    if (said !== undefined) return said;
  }
  return line;
}

/** What clients say in the place of a result that there is not, or of a picture that follows: the whole of it. */
const STAND_INS: ReadonlySet<string> = new Set([
  "",
  "(see attached image)",
  "No result provided",
  "No result was recorded.",
  "[Tool execution was interrupted]",
  "aborted",
  "image content omitted because it could not be processed",
]);

export function isStandIn(result: string): boolean {
  return STAND_INS.has(result.trim());
}
