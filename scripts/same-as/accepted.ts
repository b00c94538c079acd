/**
 * What this checkout may do otherwise than the one before, and nothing else. Whoever renames a field, rewords a message
 * or adds a client extends these tables in the same commit; with the release they are emptied.
 *
 * Paths are dotted, `[]` for any element of a list: "sessions[].title". They start at the answer, or at `error.` of a
 * refused command. A verb stands before the path, or `*` for every one.
 */

/** "verb path before" to "path after". What stands below the path is renamed with it. */
export const RENAMED: Readonly<Record<string, string>> = {
  "sync embed": "embed.outcome",
  "status embeddings": "embeddings.state",
};

/** "verb path": fields of this checkout that the one before does not have. */
export const ADDED: readonly string[] = [
  // Next steps as data, beside the sentence that the command line makes of them.
  "* error.details.next_steps",
  "doctor findings[].next_steps",
  // Errors name the field of the request and its value.
  "* error.details.field",
  "* error.details.value",
  "* error.details.value[]",
  "status embeddings.models",
];

/** Words of the command line, before and after; several words in one string: { "--mode fts": "--mode words" }. */
export const ARGUMENTS: Readonly<Record<string, string>> = { "--mode fts": "--mode words" };

/** Texts in answers, before and after: a whole text, or a pattern and what takes its place. */
export const REWORDED: readonly (readonly [string | RegExp, string])[] = [
  ["fts", "words"],
  ["off: no model configured", "off"],
  ["flag", "request"],
  [/one of fts, exact, regex/, "one of words, exact, regex"],
  [/its first record is none that Codex writes/, "Codex writes no such first record"],
  [
    /--stored looks at no source, so --path has nothing to say/,
    "--stored reads no source, so --path has no effect",
  ],
  [/what its model knew and does not know there:/, "lost to the model in the new client:"],
  [/codex-cli, opencode, pi(?=\)?$)/, "codex-cli, opencode, pi, qwen-code"],
  [/pond search "connection refused"/, "pond search 'connection refused'"],
  ["^[A-Za-z0-9][A-Za-z0-9._-]*$", "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"],
  [/free some space and run the command again/, "free some space and try again"],
  [
    /no export of opencode, although its name says so: it is no object/,
    "not an opencode export, although it is named like one: it is not an object",
  ],
  [/of them to be read/, "of them to read"],
  [/Handed to the object store as it is/, "Passed to the object store unchanged"],
  [/make it, or name the folder here/, "create it, or name the folder here"],
  [/says nothing about a (message|session)/, "does not apply to a $1"],
  ["there is nothing to look for", "the query is empty"],
  [/from the answer before, and ask/, "from the previous answer, and ask"],
  ["it has one end", "leave --end out; this session has one end"],
  [/which must be whole/, "which must be given in full"],
  [/takes in what is new/, "imports what is new"],
  [/is shown and not sent to the model/, "is shown, but not sent to the model"],
  [/holds no answer that pi could go on from/, "contains no answer that pi could continue from"],
  [/holds no turn that/, "contains no turn that"],
  [/no client takes one/, "no client accepts one"],
  [/too large for a window of/, "too large for a context window of"],
  [/shows it and does not send it/, "shows it, but does not send it"],
  [/its own model was not told either/, "its own model did not know either"],
  [/it stands in the (rollout|parent)/, "it is in the $1"],
  [/an export holds none of/, "an export contains none of"],
  [
    /opencode has one session of an id: the copy is not for it to import/,
    "opencode has one session per id, so the copy is not imported",
  ],
  [/several records stand on one line/, "several records on one line; all were kept"],
  [/several records on one line; all are kept/, "several records on one line; all were kept"],
  [/bytes is cut, the/, "bytes was truncated; the"],
  [/exists already/, "already exists"],
  [/fits no folder/, "matches no folder"],
  [/is no day$/, "is not a date"],
  [/write a day as YYYY-MM-DD, or an instant as/, "write a date as YYYY-MM-DD, or a timestamp as"],
  [/pond gave out no such cursor/, "not a cursor that pond issued"],
  [
    /pass the cursor as it came, with the query and filters it came for; or leave it out to start anew/,
    "pass the cursor unchanged, with the query and filters it was issued for; or leave it out to start over",
  ],
  [/so nothing lies between/, "so nothing can match"],
  [
    /there is no \S+, which is fine: defaults and the environment hold/,
    "no config file; using defaults and the environment",
  ],
  [/holds no word$/, "contains no word"],
  [/what stands here is not compressed as zstd/, "this is not zstd-compressed data"],
  [/the text goes on after its value/, "unexpected text after the value"],
  [/is recorded yet/, "yet"],
];

/** Clients that the checkout before does not know: their lines in lists are passed over. */
export const NEW_CLIENTS: readonly string[] = ["qwen-code"];

/** Never compared: how long it took, and what is of the machine. */
export const PASSED_OVER: readonly string[] = [
  "* elapsed_ms",
  "* took",
  // An index keeps its kind, which the table above would reword.
  "status tables[].indexes[].kind",
];
