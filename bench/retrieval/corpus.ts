/**
 * Made-up sessions of agents at work, with questions and their judged answers, written by hand for this benchmark
 * (sessions.jsonl, questions.jsonl): every question was judged before the ranking that it measures was changed.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionState } from "../../src/model/events/index.ts";
import {
  createMessage,
  createSession,
  textPart,
  toolCall,
  toolResult,
} from "../../src/model/events/index.ts";
import type { Question } from "./evaluate.ts";

interface WrittenMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly call?: { readonly name: string; readonly input: string };
  readonly result?: string;
}

interface WrittenSession {
  readonly id: string;
  readonly project: string;
  readonly at: string;
  readonly messages: readonly WrittenMessage[];
}

export interface Corpus {
  readonly sessions: readonly SessionState[];
  readonly questions: readonly Question[];
}

export function writtenCorpus(): Corpus {
  return {
    sessions: linesOf("sessions.jsonl").map((line) => stateOf(JSON.parse(line))),
    questions: linesOf("questions.jsonl").map((line): Question => JSON.parse(line)),
  };
}

const linesOf = (file: string): readonly string[] =>
  readFileSync(join(import.meta.dirname, file), "utf8")
    .split("\n")
    .filter((line) => line !== "");

function stateOf({ id, project, at, messages }: WrittenSession): SessionState {
  const session = createSession({ id, source_agent: "made-up", project, created_at: at });
  const made = messages.flatMap((written, index) => {
    const timestamp = new Date(Date.parse(at) + index * 60_000);
    const common = { timestamp, seq: index * 2 };
    const call =
      written.call === undefined ? [] : [toolCall({ call_id: `c${index}`, ...named(written.call) })];
    const texts = written.text === "" ? [] : [textPart(written.text)];
    const message = createMessage(session, { id: `m${index}`, role: written.role, ...common }, [
      ...texts,
      ...call,
    ]);
    if (written.result === undefined) return [message];
    const result = toolResult({ call_id: `c${index}`, result: written.result });
    return [
      message,
      createMessage(session, { id: `r${index}`, role: "tool", timestamp, seq: index * 2 + 1 }, [result]),
    ];
  });
  return { session, messages: made };
}

const named = ({ name, input }: { readonly name: string; readonly input: string }) => ({
  name,
  params: { command: input },
});
