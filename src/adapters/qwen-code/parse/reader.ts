/** Reads one log of Qwen Code into canonical events (spec.md#adapter-codec). */
import { logReader } from "../../kit/log/index.ts";
import { ShapedRecords } from "../../kit/shapes/index.ts";
import { ADAPTER } from "../layout.ts";
import { SHAPES } from "./shapes.ts";
import { HeadFinder } from "./head.ts";
import { sessionOf } from "./session.ts";

export const read = logReader({
  adapter: ADAPTER,
  prefix: { adapter: ADAPTER, version: 1 },
  head: () => new HeadFinder(),
  session: sessionOf,
  mapper: (log, _head, before) => new ShapedRecords(log, SHAPES, before),
  waitsFor: "no record with a session, a working directory and a timestamp yet",
  notASession: "no record of this file names a session",
});
