/** Reads one pi log into canonical events (spec.md#adapter-codec). */
import { logReader } from "../../kit/log/index.ts";
import { HeadFinder } from "./head.ts";
import { sessionOf } from "./session.ts";
import { ADAPTER } from "../layout.ts";
import { PREFIX_FORMAT, RecordMapper } from "./records.ts";

export const read = logReader({
  adapter: ADAPTER,
  prefix: PREFIX_FORMAT,
  head: () => new HeadFinder(),
  session: sessionOf,
  mapper: (log, head, before) => new RecordMapper(log, head, before),
  waitsFor: "no header with a working directory and a timestamp yet",
  notASession: "no record of this file is the header of a session",
});
