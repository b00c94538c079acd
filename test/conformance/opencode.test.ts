/** opencode against the shared conformance harness: a data folder, trees of both eras, exports, and hostile ones. */
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { adapterNamed } from "../../src/adapters/index.ts";
import { conformance } from "./harness.ts";

const ROOT = join(import.meta.dirname, "../fixtures/adapters/opencode");

/** Superseded by the database, of no message, no session at all, not readable: each is told otherwise. */
const NOT_BACK =
  /^data\/storage\/(session\/|message|part|migration)|part\/(msg_gone|prt_flat)|ses_without_all|exports\/(session-broken|export-of|package)/;

conformance({
  adapter: adapterNamed("opencode")!,
  root: ROOT,
  expected: {
    units: 14,
    sessions: 14,
    messages: 138,
    parts: 296,
    children: 3,
    issues: { duplicate_keys: 1, invalid_utf8: 1, no_project: 1, not_json: 5, unexpected_shape: 2 },
  },
  roundTrip: true,
  restores: readdirSync(ROOT, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((path) => !NOT_BACK.test(path)),
});
