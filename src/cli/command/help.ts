/** Help texts, made from the verb table. */
import { nameOf } from "./command.ts";
import type { ArgSpec, Command } from "./command.ts";
import type { FlagTable } from "./flags.ts";
import type { Output } from "../terminal/output.ts";
import { createStyle } from "../terminal/style.ts";
import type { Style } from "../terminal/style.ts";

export function showHelp(trail: readonly Command[], out: Output): void {
  out.result({ help: renderHelp(trail, createStyle(false)) }, () => renderHelp(trail, out.style));
}

/** The help of the last command of the trail; the root's lists the verbs. */
export function renderHelp(trail: readonly Command[], style: Style): string {
  const [root, ...below] = trail;
  const command = trail.at(-1);
  if (root === undefined || command === undefined) return "";
  const { summary, details, args = [], flags = {}, subcommands = [], examples = [] } = command;
  const isRoot = below.length === 0;
  const listOf = (title: string, rows: readonly Line[]): string =>
    rows.length === 0 ? "" : [style.bold(title), ...aligned(rows)].join("\n");
  return [
    summary,
    ...(details ?? "").split("\n").map((paragraph) => wrapped("", paragraph)),
    `${style.bold("Usage:")} ${usageOf(trail)}`,
    listOf(
      isRoot ? "Verbs:" : "Sub-commands:",
      subcommands.map((entry) => [entry.name, entry.summary]),
    ),
    listOf(
      "Arguments:",
      args.map((arg) => [argName(arg), summaryOf(arg)]),
    ),
    listOf("Flags:", isRoot ? [] : flagLines(flags)),
    listOf("Global flags:", flagLines(root.flags ?? {})),
    listOf(
      "Examples:",
      examples.map((text) => [text]),
    ),
    subcommands.length === 0
      ? ""
      : `Run ${["pond help", ...below.map((entry) => entry.name)].join(" ")} <${isRoot ? "verb" : "sub-command"}> for details.`,
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

/** A name and what it is, or an example. */
type Line = readonly [name: string, summary?: string];

function usageOf(trail: readonly Command[]): string {
  const command = trail.at(-1);
  const words = [nameOf(trail)];
  if (command?.subcommands !== undefined) words.push(trail.length === 1 ? "<verb>" : "<sub-command>");
  for (const arg of command?.args ?? [])
    words.push(arg.optional === true ? `[${argName(arg)}]` : argName(arg));
  return [...words, "[flags]"].join(" ");
}

const argName = ({ name, repeated }: ArgSpec): string => `<${name}>${repeated === true ? "..." : ""}`;

function flagLines(flags: FlagTable): readonly Line[] {
  return Object.entries(flags).map(([name, spec]) => {
    const value =
      spec.type === "boolean" ? "" : ` <${spec.value ?? (spec.type === "integer" ? "n" : "value")}>`;
    const short = spec.short === undefined ? "    " : `-${spec.short}, `;
    return [`${short}--${name}${value}`, summaryOf(spec)];
  });
}

interface Described {
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly env?: string;
}

function summaryOf({ summary, choices, env }: Described): string {
  const facts = [choices?.join(", "), env === undefined ? undefined : `env ${env}`].filter(
    (fact) => fact !== undefined,
  );
  return facts.length === 0 ? summary : `${summary} (${facts.join("; ")})`;
}

function aligned(lines: readonly Line[]): readonly string[] {
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, summary]) =>
    summary === undefined ? `  ${name}` : wrapped(`  ${name.padEnd(width)}  `, summary),
  );
}

/** Words in lines of at most 80 columns, the lines after the first below where the text began. */
function wrapped(start: string, text: string): string {
  const lines = [start];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line.length > start.length && line.length + 1 + word.length > WIDTH)
      lines.push(" ".repeat(start.length) + word);
    else lines[lines.length - 1] = line.length === start.length ? line + word : `${line} ${word}`;
  }
  return lines.join("\n");
}

/** The width that every terminal has. */
const WIDTH = 80;
