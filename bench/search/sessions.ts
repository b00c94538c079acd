/**
 * Made-up sessions for the speed of search: words by Zipf's law among identifiers, paths and errors, a subject per session,
 * and, as in real stores, text in one message of nine: the others are calls of tools and what they returned. Deterministic,
 * generated as a stream.
 */
import type { Event, Part, Role, Session } from "../../src/model/index.ts";
import { messageId, partId, sessionId } from "../../src/model/index.ts";
import { sealExtracted, sealExtractedJson } from "../../src/model/extracted.ts";
import { int, uuid, xorshift } from "../corpus.ts";

type Random = () => number;

const FIRST_DAY = 1_730_000_000_000_000;
const MINUTE = 60_000_000;
const DAY = 24 * 60 * MINUTE;
const DAYS = 365;
const PROJECTS = 40;
/** Calls of tools of one turn: with their results, and a text before and one after. */
const CALLS = 8;

export interface MadeSession {
  readonly messages: number;
  readonly events: readonly Event[];
}

/** Sessions of tens to hundreds of messages until there are so many messages. */
export function* madeSessions(messages: number): Generator<MadeSession> {
  const random = xorshift(777);
  for (let made = 0, index = 0; made < messages; index++) {
    const turns = 1 + Math.floor(24 * random() ** 2);
    const session = sessionOf(turns, index, random);
    made += session.messages;
    yield session;
  }
}

function sessionOf(turns: number, index: number, random: Random): MadeSession {
  const id = sessionId(uuid(random));
  const project = `/home/someone/work/${wordAt(200 + (index % PROJECTS))}`;
  const start = FIRST_DAY + int(random, DAYS) * DAY;
  const subject = Array.from({ length: 12 }, () => wordAt(500 + int(random, WORDS - 500)));
  const events: Event[] = [
    {
      kind: "session",
      session: {
        id,
        source_agent: index % 3 === 0 ? "codex-cli" : "claude-code",
        created_at: start as Session["created_at"],
        project: sealExtracted(project),
        options: {},
      },
    },
  ];
  let seq = 0;
  const add = (role: Role, parts: readonly Draft[]): void => {
    const message_id = messageId(uuid(random));
    const timestamp = (start + seq * MINUTE) as Session["created_at"];
    const options = { source: { requestId: `req_${uuid(random)}`, cwd: project } };
    const message = { id: message_id, session_id: id, seq: seq++, timestamp, options };
    events.push({
      kind: "message",
      message: role === "system" ? { ...message, role, content: sealExtracted("") } : { ...message, role },
    });
    for (const [ordinal, draft] of parts.entries())
      events.push({
        kind: "part",
        part: partOf(draft, { id: partId(`${ordinal}`), session_id: id, message_id, ordinal, options: {} }),
      });
  };
  for (let turn = 0; turn < turns; turn++) {
    const file: Draft[] =
      int(random, 10) === 0 ? [{ type: "file", name: `${wordAt(int(random, 5000))}.png` }] : [];
    add("user", [{ type: "text", text: prose(random, 40 + int(random, 300), subject) }, ...file]);
    for (let call = 0; call < CALLS; call++) {
      const call_id = `call_${seq}`;
      add("assistant", [{ type: "call", call_id, text: `cat ${pathOf(random)}` }]);
      add("tool", [{ type: "result", call_id, text: output(random, 300 + int(random, 1500)) }]);
    }
    add("assistant", [{ type: "text", text: prose(random, 150 + int(random, 900), subject) }]);
  }
  return { messages: seq, events };
}

type Draft =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly name: string }
  | { readonly type: "call" | "result"; readonly call_id: string; readonly text: string };

function partOf(
  draft: Draft,
  base: Pick<Part, "id" | "session_id" | "message_id" | "ordinal" | "options">,
): Part {
  if (draft.type === "text")
    return { ...base, type: "text", provenance: "conversational", text: sealExtracted(draft.text) };
  if (draft.type === "file")
    return {
      ...base,
      type: "file",
      provenance: "conversational",
      media_type: sealExtracted("image/png"),
      file_name: sealExtracted(draft.name),
      data: { kind: "bytes", value: new Uint8Array(64) },
    };
  const call = { ...base, call_id: sealExtracted(draft.call_id), name: sealExtracted("Bash") };
  return draft.type === "call"
    ? {
        ...call,
        type: "tool_call",
        provenance: "conversational",
        params: sealExtractedJson({ command: draft.text }),
      }
    : {
        ...call,
        type: "tool_result",
        provenance: "injected",
        is_failure: sealExtracted(false),
        result: sealExtractedJson(draft.text),
      };
}

/** Different words, from the most frequent one to the rarest. */
const WORDS = 200_000;
const SYLLABLES = "re con ta mi pre ma ter in ver al do er po lo gi su de ex un sta".split(" ");

/** The word of a rank: short where it is frequent, a name, a path or an error where the rank says so. */
export function wordAt(rank: number): string {
  let word = "";
  for (let left = rank + 1; left > 0; left = Math.floor(left / SYLLABLES.length))
    word += SYLLABLES[left % SYLLABLES.length] ?? "";
  if (rank % 9 === 4) return `${word}${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  if (rank % 11 === 5) return `${word}_${SYLLABLES[rank % 7] ?? ""}`;
  if (rank % 23 === 7) return `src/${word}/${SYLLABLES[rank % 13] ?? ""}.ts`;
  return rank % 31 === 9 ? `E${1000 + rank}` : word;
}

const zipf = (random: Random): string => wordAt(Math.floor(WORDS ** random()) - 1);

const pathOf = (random: Random): string => `src/${wordAt(int(random, 3000))}/${wordAt(int(random, 3000))}.ts`;

/** Sentences of frequent and rare words, and of what the session is about. */
function prose(random: Random, length: number, subject: readonly string[]): string {
  let text = "";
  while (text.length < length) {
    const word = int(random, 12) === 0 ? (subject[int(random, subject.length)] ?? "") : zipf(random);
    text += int(random, 10) === 0 ? `${word}. ` : `${word} `;
  }
  return text;
}

function output(random: Random, length: number): string {
  let text = "";
  while (text.length < length)
    text += `${pathOf(random)}:${int(random, 900)}: error E${1000 + int(random, 400)}: ${zipf(random)} is not a ${zipf(random)}\n`;
  return text;
}

/** What people would ask: some words of the subject of a session with some of all texts, a name, an error, a path. */
export function questions(count: number): readonly string[] {
  const random = xorshift(4242);
  return Array.from({ length: count }, (_, at) => {
    const rare = (): string => wordAt(500 + int(random, at % 2 === 0 ? 3000 : WORDS - 500));
    const common = (): string => wordAt(20 + int(random, 200));
    if (at % 5 === 4) return rare();
    return [common(), rare(), ...(at % 3 === 0 ? [common(), rare()] : []), common()].join(" ");
  });
}
