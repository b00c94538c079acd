/**
 * Which stretches of a user's text a person wrote and which pi put there (spec.md#model-part-provenance). Every
 * pattern is in docs/adapters/pi.md#provenance, with its evidence.
 */
import type { RecordedAuthor } from "../../../model/derived/index.ts";
import type { TextSpan } from "../../kit/session/index.ts";

/** `/skill:name arguments` becomes the skill's text with the arguments behind it: the client's own pattern. */
const SKILL = /^<skill name="[^"]+" location="[^"]+">\n[\s\S]*?\n<\/skill>(?:\n\n(?=[\s\S])|$)/;

/** `@file` on the command line becomes the file's content before the prompt. */
const FILE = /<file name="[^"\n]+">(?:\n[\s\S]*?\n|[^\n]*?)<\/file>\n/y;

/** Injected, but written by a model (spec.md#model-part-author). */
const BY_MODELS: ReadonlySet<string> = new Set(["branch-summary", "compaction-summary"]);

/** Who wrote a text of an injected kind, where that is not the client; `name` is the field that holds it. */
export function authorOf(injected: string, name?: string): { readonly author?: RecordedAuthor } {
  if (BY_MODELS.has(injected)) return { author: "model" };
  return injected === "shell" && name === "command" ? { author: "person" } : {};
}

/** The spans of a text that stands in the user's slot, covering it without gaps. */
export function spansOf(text: string): readonly TextSpan[] {
  const everything = { start: 0, end: text.length };
  if (!text.startsWith("<")) return [everything];
  const skill = SKILL.exec(text)?.[0].length ?? 0;
  const end = skill === 0 ? endOfFiles(text) : skill;
  if (end === 0) return [everything];
  const injected = { start: 0, end, injected: skill === 0 ? "file" : "skill" };
  return end === text.length ? [injected] : [injected, { start: end, end: text.length }];
}

/** Where the attached files at the start of a text end; 0 when there is none. */
function endOfFiles(text: string): number {
  let end = 0;
  FILE.lastIndex = 0;
  while (FILE.test(text)) end = FILE.lastIndex;
  return end;
}
