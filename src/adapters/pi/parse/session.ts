/** The Session row of a log: who it is, where it came from, in which project (docs/adapters/pi.md#identity). */
import { basename } from "node:path";
import type { Session } from "../../../model/index.ts";
import { sessionId } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { LogEvidence } from "../../kit/log/index.ts";
import { copyId, nameOfSource } from "../../kit/sources/index.ts";
import { extractFromPath } from "../../kit/extract/index.ts";
import type { HeadFinder } from "./head.ts";
import { folderOf, nameOf } from "../../kit/files/path-names.ts";
import { ADAPTER, stemOf } from "../layout.ts";

export function sessionOf({ unit, place, head, fileTime, known }: LogEvidence<HeadFinder>): Session {
  const stem = stemOf(unit.key);
  const recorded = head.id?.isWellFormed() === true ? head.id : undefined;
  const own = recorded ?? stem;
  const base = own + head.generation;
  // Every log that records an id is a source of that session, wherever it stands; a file name alone tells nothing.
  const id = known ?? (recorded === undefined ? copyId(base, nameOfSource(place, unit.key)) : base);
  const { parent } = head;
  return {
    id: sessionId(id),
    ...(parent === undefined ? {} : { parent_session_id: sessionId(parent), relation: "fork" as const }),
    source_agent: ADAPTER,
    created_at: head.instant ?? fileTime,
    project: head.directory ?? extractFromPath(nameOf(folderOf(unit.key)) || basename(place.path)),
    options: withFacts(
      { source: { path: unit.key, ...(own === id ? {} : { session_id: own }) } },
      head.instant === undefined ? { created_at: "file" } : {},
    ),
  };
}
