/**
 * What this checkout may do otherwise than the one before, and nothing else. Whoever renames a field, rewords a message
 * or adds a client extends these tables in the same commit; with the release they are emptied.
 *
 * Paths are dotted, `[]` for any element of a list: "sessions[].title". They start at the answer, or at `error.` of a
 * refused command. A verb stands before the path, or `*` for every one.
 */

/** "verb path before" to "path after". What stands below the path is renamed with it. */
export const RENAMED: Readonly<Record<string, string>> = {};

/** "verb path": fields of this checkout that the one before does not have. */
export const ADDED: readonly string[] = [
  // Next steps as data, beside the sentence that the command line makes of them.
  "* error.details.next_steps",
  "doctor findings[].next_steps",
];

/** Words of the command line, before and after; several words in one string: { "--mode fts": "--mode words" }. */
export const ARGUMENTS: Readonly<Record<string, string>> = { "--mode fts": "--mode words" };

/** Texts in answers, before and after: a whole text, or a pattern and what takes its place. */
export const REWORDED: readonly (readonly [string | RegExp, string])[] = [["fts", "words"]];

/** Clients that the checkout before does not know: their lines in lists are passed over. */
export const NEW_CLIENTS: readonly string[] = ["qwen-code"];

/** Never compared: how long it took, and what is of the machine. */
export const PASSED_OVER: readonly string[] = ["* elapsed_ms", "* took"];
