/** The flags of the verbs, as data: the table lists them, the verb's function is typed by them. */
import type { FlagTable } from "./flags.ts";

const STAGES = ["import", "embed", "update-indexes"] as const;

export const syncFlags = {
  adapter: { type: "list", value: "client", summary: "Only this client (may be given several times)" },
  path: {
    type: "list",
    value: "folder",
    summary: "Read this folder or file instead of the client's default place; with --adapter",
  },
  only: { type: "list", value: "stage", choices: STAGES, summary: "Run only this stage" },
  skip: { type: "list", value: "stage", choices: STAGES, summary: "Leave this stage out" },
  "dry-run": { type: "boolean", summary: "Look and count, write nothing" },
  verify: { type: "boolean", summary: "Read every source again, whatever was remembered" },
  wait: { type: "boolean", summary: "Wait for another sync instead of refusing" },
} as const satisfies FlagTable;

export const initFlags = {
  yes: { type: "boolean", short: "y", summary: "Take the defaults, ask nothing" },
} as const satisfies FlagTable;

export const restoreFlags = {
  to: { type: "string", value: "client", summary: "Restore into this client; default: the session's own" },
  out: {
    type: "string",
    value: "folder",
    summary: "Write below this folder instead of the client's own place",
  },
  "map-path": { type: "list", value: "old=new", summary: "Rewrite recorded folders for this machine" },
} as const satisfies FlagTable;

export const verifyFlags = {
  adapter: { type: "list", value: "client", summary: "Only this client (may be given several times)" },
  path: { type: "list", value: "folder", summary: "Compare with this folder or file; with --adapter" },
} as const satisfies FlagTable;

export const demoFlags = {
  keep: { type: "boolean", summary: "Leave the throwaway home there to look around in" },
} as const satisfies FlagTable;
