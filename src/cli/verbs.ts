/**
 * The verb table: data, loaded on every start; a verb's code is loaded when it runs (spec.md#cli-startup). A new verb is one entry here
 * and one file in verbs/. Only what exists is listed.
 */
import { command } from "./command/command.ts";
import type { Command } from "./command/command.ts";
import { GLOBAL_FLAGS } from "./command/flags.ts";
import {
  demoFlags,
  doctorFlags,
  getFlags,
  initFlags,
  restoreFlags,
  resumeFlags,
  searchFlags,
  sessionsFlags,
  syncFlags,
  verifyFlags,
} from "./command/verb-flags.ts";

/** The shells that completions are made for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

const VERBS: readonly Command[] = [
  command({
    name: "sync",
    summary: "Import new and changed sessions from all clients",
    details:
      "Reads only what changed since the last sync. Stages: import, embed, update-indexes; the last one alone (--only update-indexes) merges and packs the whole store. With --quiet it prints only what could not be read.",
    flags: syncFlags,
    examples: [
      "pond sync",
      "pond sync --adapter codex-cli --path ./backup/.codex",
      "pond sync --dry-run --json",
      "pond sync --only update-indexes",
    ],
    load: async () => (await import("./verbs/sync.ts")).sync,
  }),
  command({
    name: "search",
    summary: "Search messages by words, exact text or pattern",
    args: [{ name: "query", summary: "Words to look for", repeated: true, optional: true }],
    flags: searchFlags,
    examples: [
      "pond search retry backoff",
      'pond search --mode exact "503" --project checkout',
      "pond search --mode regex --in tools 'exit code [1-9]'",
      "pond search jitter --json",
    ],
    load: async () => (await import("./verbs/search.ts")).search,
  }),
  command({
    name: "sessions",
    summary: "List stored sessions, newest first: titles, projects, counts",
    flags: sessionsFlags,
    examples: [
      "pond sessions",
      "pond sessions --project checkout --from 2026-10-01",
      "pond sessions --json --limit 200",
    ],
    load: async () => (await import("./verbs/sessions.ts")).sessions,
  }),
  command({
    name: "get",
    summary: "Read a session page by page, or one message with its neighbours",
    args: [{ name: "id", summary: "A session's id or its beginning, or a message's id", optional: true }],
    flags: getFlags,
    mistaken: { "response-mode": "mode" },
    examples: [
      "pond get 7b0c5a52",
      "pond get <session> --from end",
      "pond get <message> --context 5",
      "pond get <session> --mode verbatim --limit 5 --json",
    ],
    load: async () => (await import("./verbs/get.ts")).get,
  }),
  command({
    name: "status",
    summary: "Show what is stored, how fresh it is, and the state of the indexes",
    load: async () => (await import("./verbs/status.ts")).status,
  }),
  command({
    name: "adapters",
    summary: "List the clients pond knows, where they keep sessions, and how much is there",
    load: async () => (await import("./verbs/adapters.ts")).adapters,
  }),
  command({
    name: "restore",
    summary: "Write a stored session back as files of a client",
    details:
      "Writes the session with all its descendants, or nothing. No file is overwritten. What was written is read back and compared.",
    args: [{ name: "session", summary: "The session's id or its beginning" }],
    flags: restoreFlags,
    mistaken: { in: "to", into: "to" },
    examples: [
      "pond restore <id>",
      "pond restore <id> --to codex-cli",
      "pond restore <id> --to codex-cli --dry-run",
      "pond restore <id> --out ./restored",
      "pond restore <id> --end 2 --out ./other",
    ],
    load: async () => (await import("./verbs/restore.ts")).restore,
  }),
  command({
    name: "resume",
    summary: "Resume a stored session in its client or in another one",
    details:
      "Restores the session if the client does not have it, then starts the client in the recorded directory and hands it the terminal; the exit code is the client's.",
    args: [{ name: "session", summary: "The session's id or its beginning" }],
    flags: resumeFlags,
    mistaken: { to: "in" },
    examples: [
      "pond resume <id>",
      "pond resume <id> --in codex-cli",
      "pond resume <id> --map-path /home/old=/home/me",
      "pond resume <id> --dry-run",
    ],
    load: async () => (await import("./verbs/resume.ts")).resume,
  }),
  command({
    name: "verify",
    summary: "Prove that what is on disk is stored and restores equal",
    details:
      "Fails on what is unequal, cannot be read, or is on disk and not stored. Sources that are gone, or were moved, grew or changed since the last sync, are only counted.",
    flags: verifyFlags,
    examples: ["pond verify", "pond verify --adapter claude-code", "pond verify --stored"],
    load: async () => (await import("./verbs/verify.ts")).verify,
  }),
  command({
    name: "doctor",
    summary: "Check the store, the clients and the settings, and say what to do next",
    flags: doctorFlags,
    examples: ["pond doctor", "pond doctor --deep"],
    load: async () => (await import("./verbs/doctor.ts")).doctor,
  }),
  command({
    name: "repair",
    summary: "Repair a store with lost or damaged files, as far as possible",
    details:
      "Reads every file. Indexes are rebuilt; rows of damaged files are read again from the sources that were synced to the store, and what no source has any longer is kept as far as it can be read. What is new on this machine is left to a sync. At the end everything is checked again; if something is still wrong, the command names it and fails.",
    examples: ["pond repair", "pond repair --json"],
    load: async () => (await import("./verbs/repair.ts")).repair,
  }),
  command({
    name: "init",
    summary: "Set pond up: one or two questions; safe to run again",
    flags: initFlags,
    keeps: ["store"],
    examples: ["pond init", "pond init --yes --store s3://my-bucket/pond"],
    load: async () => (await import("./verbs/init.ts")).init,
  }),
  command({
    name: "demo",
    summary: "A tour with made-up sessions; touches nothing of yours",
    flags: demoFlags,
    load: async () => (await import("./verbs/demo.ts")).demo,
  }),
  {
    name: "config",
    summary: "Show the settings and where each comes from",
    details: "A setting comes from its flag, else from its POND_* variable, the file, or its default.",
    subcommands: [
      command({
        name: "show",
        summary: "Every setting, its value (secrets masked) and its source",
        examples: ["pond config show", "pond config show --json"],
        load: async () => (await import("./verbs/config.ts")).show,
      }),
      command({
        name: "path",
        summary: "The path of the configuration file",
        load: async () => (await import("./verbs/config.ts")).path,
      }),
      command({
        name: "schema",
        summary: "The JSON Schema of the configuration file",
        load: async () => (await import("./verbs/config.ts")).schema,
      }),
    ],
  },
  command({
    name: "completions",
    summary: "Print a script that completes pond's verbs and flags in a shell",
    args: [{ name: "shell", summary: "The shell to complete in", choices: SHELLS }],
    examples: [
      'eval "$(pond completions bash)"                # in ~/.bashrc',
      'eval "$(pond completions zsh)"                 # in ~/.zshrc, after compinit',
      "pond completions fish > ~/.config/fish/completions/pond.fish",
    ],
    load: async () => (await import("./completions.ts")).completions,
  }),
  command({
    name: "help",
    summary: "Show the help of a verb",
    args: [
      {
        name: "verb",
        summary: "The verb, and its sub-command if it has any",
        optional: true,
        repeated: true,
      },
    ],
    load: async () => (await import("./show-help.ts")).help,
  }),
];

export const ROOT: Command = {
  name: "pond",
  summary: "pond keeps every AI-agent session: lossless, searchable, restorable.",
  flags: GLOBAL_FLAGS,
  subcommands: VERBS,
};
