/** Help texts, made from the verb table. Pure. */
import { nameOf } from "./command.ts";
import type { ArgSpec, Command } from "./command.ts";
import type { FlagTable } from "./flags.ts";
import type { Style } from "./style.ts";

/** The help of the last command of the trail; the root's lists the verbs. */
export function renderHelp(trail: readonly Command[], style: Style): string {
  const [root, ...below] = trail;
  const command = trail.at(-1);
  if (root === undefined || command === undefined) return "";
  const { args = [], flags = {}, subcommands = [], examples = [] } = command;
  const own = below.length === 0 ? {} : flags;
  const word = below.length === 0 ? "verb" : "sub-command";
  const sections = [
    command.details === undefined ? command.summary : `${command.summary}\n\n${command.details}`,
    `${style.bold("Usage:")} ${usageOf(trail)}`,
    section(
      style,
      below.length === 0 ? "Verbs:" : "Sub-commands:",
      subcommands.map((entry) => [entry.name, entry.summary]),
    ),
    section(
      style,
      "Arguments:",
      args.map((arg) => [argName(arg), summaryOf(arg)]),
    ),
    section(style, "Flags:", flagRows(own)),
    section(style, "Global flags:", flagRows(root.flags ?? {})),
    examples.length === 0 ? "" : [style.bold("Examples:"), ...examples.map((text) => `  ${text}`)].join("\n"),
    subcommands.length === 0
      ? ""
      : `pond help${below.map((entry) => ` ${entry.name}`).join("")} <${word}> tells more.`,
  ];
  return sections.filter((text) => text !== "").join("\n\n");
}

function usageOf(trail: readonly Command[]): string {
  const command = trail.at(-1);
  const words = [nameOf(trail)];
  if (command?.subcommands !== undefined) words.push(trail.length === 1 ? "<verb>" : "<sub-command>");
  for (const arg of command?.args ?? [])
    words.push(arg.optional === true ? `[${argName(arg)}]` : argName(arg));
  return [...words, "[flags]"].join(" ");
}

const argName = ({ name, repeated }: ArgSpec): string => `<${name}>${repeated === true ? "..." : ""}`;

function flagRows(flags: FlagTable): [string, string][] {
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

function section(style: Style, title: string, rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return "";
  const width = Math.max(...rows.map(([name]) => name.length));
  return [style.bold(title), ...rows.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`)].join(
    "\n",
  );
}
