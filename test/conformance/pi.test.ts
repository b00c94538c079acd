/** pi against the shared conformance harness. */
import { join } from "node:path";
import { adapterNamed } from "../../src/adapters/index.ts";
import { conformance } from "./harness.ts";

const SMALL = "--srv-demo--/2026-02-01T10-00-00-000Z_0193a000-0000-7000-8000-000000000001.jsonl";
const CAPTURED = "--tmp-pond-garden--/2026-11-16T00-45-03-650Z_01a1e1d0-8d21-70bd-9619-b545abc296ea.jsonl";

conformance({
  adapter: adapterNamed("pi")!,
  root: join(import.meta.dirname, "../fixtures/adapters/pi/sessions"),
  expected: {
    units: 16,
    sessions: 15,
    messages: 171,
    parts: 114,
    children: 3,
    issues: { duplicate_keys: 1, glued_records: 1, invalid_utf8: 1, not_json: 1, unexpected_shape: 1 },
  },
  logs: { everyByte: SMALL, atRecords: CAPTURED },
  roundTrip: true,
});
