/** The recorded states of sources: which is the newest, what each row is in it (spec.md#sources-order). */
export type { MessageText } from "./message-texts.ts";
export type { End, StateChoice } from "./history.ts";
export { ADOPTED, isSameState } from "./history.ts";
export type { RecordedState, SourceStates, StateHead } from "../tables/states.ts";
export type { SessionRowStates } from "./read-row-states.ts";
export type { EndRows, RowStatus } from "./row-states.ts";
export type { RowRef, StoredMessage, StoredPart } from "./row-ref.ts";
