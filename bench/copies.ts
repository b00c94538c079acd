/**
 * Any amount of sources: copies of the logs of Claude Code, from the samples or made up, in which every uuid is another one
 * but the same wherever it stands, so that each copy is of sessions and messages of its own with all their links. Made a
 * file at a time.
 */
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Event } from "../src/model/index.ts";
import { samplesOf } from "../test/support/samples.ts";
import { corpus } from "./corpus.ts";
import { listFiles } from "./process.ts";

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
/** A session that is told by a uuid, or a file of one: what has another name would be the same session in each copy. */
const OF_A_UUID = new RegExp(`/${UUID}(?:\\.jsonl$|/)`);
const EACH = new RegExp(UUID, "g");

export class Copies {
  readonly #from: string;
  readonly #to: string;
  readonly #files: readonly string[];
  #copy = 0;

  private constructor(from: string, to: string) {
    this.#from = from;
    this.#to = to;
    this.#files = listFiles(from)
      .filter((path) => OF_A_UUID.test(path))
      .toSorted();
  }

  /** Into the projects of a user's home. */
  static into(home: string): Copies {
    return new Copies(
      samplesOf("claude-code") ?? writeMadeUp(join(home, "made-up")),
      join(home, ".claude/projects"),
    );
  }

  /** At least so many bytes more, always of the same files in the same order. The logs that were written. */
  add(bytes: number): { readonly bytes: number; readonly logs: readonly string[] } {
    const logs: string[] = [];
    let written = 0;
    for (let at = 0; written < bytes; at++) {
      if (at % this.#files.length === 0) this.#copy += 1;
      const path = this.#files[at % this.#files.length];
      if (path === undefined) throw new Error(`no logs in ${this.#from}`);
      // Bytes as they are: some samples are no text on purpose.
      const content = this.#renamed(readFileSync(path, "latin1"));
      const target = join(this.#to, `copy-${this.#copy}`, this.#renamed(relative(this.#from, path)));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content, "latin1");
      written += content.length;
      if (target.endsWith(".jsonl")) logs.push(target);
    }
    return { bytes: written, logs };
  }

  /** Other first eight digits, by the number of the copy: no two copies share one, and equal ones stay equal. */
  #renamed(text: string): string {
    const salt = Math.imul(this.#copy, 0x9e37_79b1);
    return text.replaceAll(EACH, (id) => {
      const digits = ((Number.parseInt(id.slice(0, 8), 16) ^ salt) >>> 0).toString(16);
      return digits.padStart(8, "0") + id.slice(8);
    });
  }
}

/** Where there are no samples: 100 MB of logs with the texts of the made-up corpus. */
function writeMadeUp(folder: string): string {
  mkdirSync(folder, { recursive: true });
  let file: number | undefined;
  let open: Message | undefined;
  for (const event of corpus({ name: "made up", sessions: 200, messages: 200 })) {
    if (event.kind === "session") {
      if (file !== undefined) closeSync(file);
      file = openSync(join(folder, `${event.session.id}.jsonl`), "w");
    } else if (event.kind === "message") open = event.message;
    else if (file !== undefined && open !== undefined) writeSync(file, lineOf(open, event.part));
  }
  if (file !== undefined) closeSync(file);
  return folder;
}

type Message = Extract<Event, { kind: "message" }>["message"];
type Part = Extract<Event, { kind: "part" }>["part"];

/** As Claude Code would have written it. */
function lineOf({ id, session_id: sessionId, role, timestamp, options }: Message, part: Part): string {
  const { record } = options["source"] as { record: object };
  const type = role === "assistant" ? "assistant" : "user";
  return `${JSON.stringify({
    ...record,
    sessionId,
    type,
    uuid: id,
    timestamp: new Date(timestamp / 1000).toISOString(),
    message: { role: type, content: contentOf(part) },
  })}\n`;
}

function contentOf(part: Part): unknown {
  if (part.type === "tool_call")
    return [{ type: "tool_use", id: part.call_id, name: part.name, input: part.params }];
  if (part.type === "tool_result")
    return [{ type: "tool_result", tool_use_id: part.call_id, content: part.result }];
  return part.type === "text" ? [{ type: "text", text: part.text }] : [];
}
