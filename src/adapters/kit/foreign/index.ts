/** What any client makes of another one's session, and what is lost on the way. */
export { authorOf, usageOf } from "./author.ts";
export type { ContextRule, ModelContext } from "./context.ts";
export { failuresIn, keptBehind, lastCompaction, thoughtsIn } from "./context.ts";
export type { HandedOver } from "./handed-over.ts";
export {
  differenceToHandedOver,
  handedOver,
  messagesBehind,
  messagesWithContent,
  INTERRUPTED,
  NO_RESULT,
  standInPrompt,
} from "./handed-over.ts";
export type { History, HistoryOptions } from "./history.ts";
export { historyOf } from "./history.ts";
export type { CallPart, FilePart } from "./parts.ts";
export {
  callId,
  callInput,
  compactionSummary,
  countSystem,
  fileUrl,
  injectedKind,
  isAnswer,
  isCarried,
  loseFile,
  loseNote,
  parseDataUrl,
  toolName,
} from "./parts.ts";
export type { ResultPart } from "./results.ts";
export { CallResults, resultBlocks, resultJson } from "./results.ts";
export { tokensOf } from "./tokens.ts";
export type { Loss } from "./losses.ts";
export { LossReport } from "./losses.ts";
