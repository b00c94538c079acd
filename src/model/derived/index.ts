/** What is computed from canonical objects: pond's own facts, titles, authors, branches, revisions, copies, indexed text. */
export { impliedAuthor, partAuthor } from "./author.ts";
export { activeBranch } from "./branch.ts";
export type {
  Author,
  FactsDraft,
  MessageName,
  PondFacts,
  RecordedAuthor,
  RecordedLineage,
  Replayed,
  TitleFact,
} from "./facts.ts";
export {
  factText,
  isOwnSpace,
  pondFacts,
  pondSpace,
  SPACE_TEXT,
  withFacts,
  withoutFacts,
  withPondSpace,
} from "./facts.ts";
export type { Repeats } from "./repeats.ts";
export {
  decodeRepeats,
  encodeRepeats,
  originalsOf,
  OTHER_RECORD,
  repeatsOf,
  repeatsOfVersion,
  replaysOf,
} from "./repeats.ts";
export { newestRevisions, revisionOf } from "./revision.ts";
export { searchText } from "./search-text.ts";
export { brandOf, isOfAgent, isSubagent, subagentLabel, subagentOf } from "./source-agent.ts";
export type { RecordedTitle } from "./title.ts";
export { bestTitle, recordedTitle, titleIn, titleLine } from "./title.ts";
