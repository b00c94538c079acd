/**
 * Questions over real sessions, without anybody judging them: a session's title, its first request and its last answer each
 * ask for it, with the messages that say so taken out of it (of all questions at once). What is left must answer.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { MessageWithParts, SessionState } from "../../src/model/events/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { isSubagent, recordedTitle, searchText } from "../../src/model/derived/index.ts";
import { readFolder } from "../../test/support/adapter-run.ts";
import type { Corpus } from "./corpus.ts";
import type { Question } from "./evaluate.ts";

/** Sessions with fewer texts have nothing left to find once three are taken out. */
const FEWEST_TEXTS = 6;
const MOST_CHARACTERS = 300;
const FEWEST_CHARACTERS = 12;

const PLACES = [
  ["claude-code", "claude-code"],
  ["codex-cli", "codex"],
  ["pi", "pi"],
] as const;

/** Undefined where there are no samples. */
export async function sampleCorpus(folder: string | undefined): Promise<Corpus | undefined> {
  if (folder === undefined || !existsSync(folder)) return undefined;
  const sessions: SessionState[] = [];
  const questions: Question[] = [];
  const seen = new Set<string>();
  for (const [client, place] of PLACES) {
    const adapter = adapterNamed(client);
    if (adapter === undefined || !existsSync(join(folder, place))) continue;
    const runs = await readFolder(adapter, join(folder, place));
    for (const state of replay(runs.flatMap(({ events }) => events))) {
      if (seen.has(state.session.id) || isSubagent(state.session.source_agent)) continue;
      seen.add(state.session.id);
      const asked = questionsOf(state);
      if (asked === undefined) continue;
      sessions.push(asked.rest);
      questions.push(...asked.questions);
    }
  }
  const texts = new Map(
    sessions.map((state) => [state.session.id as string, normalised(textOf(state.messages))]),
  );
  // A question whose text is still there, in whichever session, asks for nothing that has to be found.
  return {
    sessions,
    questions: questions.filter(
      ({ query }) => ![...texts.values()].some((text) => text.includes(normalised(query))),
    ),
  };
}

function questionsOf(
  state: SessionState,
): { readonly rest: SessionState; readonly questions: readonly Question[] } | undefined {
  const spoken = state.messages.filter((message) => textOf([message]) !== "");
  const first = spoken.find(({ message }) => message.role === "user");
  const last = spoken.findLast(({ message }) => message.role === "assistant");
  if (spoken.length < FEWEST_TEXTS || first === undefined || last === undefined) return undefined;
  const title = recordedTitle(state.messages.map(({ message }) => message));
  const asked = [
    ["title", title ?? ""],
    ["first request", textOf([first])],
    ["last answer", textOf([last])],
  ] as const;
  return {
    rest: { ...state, messages: state.messages.filter((each) => each !== first && each !== last) },
    questions: asked
      .map(([kind, text]) => ({
        class: kind,
        query: text.slice(0, MOST_CHARACTERS).trim(),
        answers: [state.session.id],
      }))
      .filter(({ query }) => query.length >= FEWEST_CHARACTERS),
  };
}

const textOf = (messages: readonly MessageWithParts[]): string =>
  messages
    .map(({ message, parts }) => searchText(message, parts) ?? "")
    .filter((text) => text !== "")
    .join("\n");

const normalised = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, " ").trim();
