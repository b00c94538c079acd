/** The door to restoring for the rooms above: files of a client, their comparison, what another client is handed. */
export type { ContextRule, Loss } from "./kit/foreign/index.ts";
export type {
  FileComparison,
  Restored,
  RestoredFile,
  RestoredLog,
  Resume,
  SerializeOptions,
} from "./kit/restore/index.ts";
export {
  compareFile,
  FileComparer,
  describeDifference,
  isEqualFile,
  printFile,
  contentOf,
} from "./kit/restore/index.ts";
export {
  differenceToHandedOver,
  handedOver,
  messagesBehind,
  messagesWithContent,
  tokensOf,
} from "./kit/foreign/index.ts";
