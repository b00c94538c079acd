/** The recorded states of sources: which is the newest, what each row is in it (spec.md#sources-order). */
export type { MessageText } from "./message-texts.ts";
export type { End, StateChoice } from "./history.ts";
export { ADOPTED, isSameState } from "./history.ts";
export type { RecordedState, SourceStates, StateHead } from "../tables/states.ts";
export type { SessionStandings } from "./read-standings.ts";
export type { EndRows, Standing } from "./standing.ts";
export type { RowRef, StoredMessage, StoredPart } from "./row-ref.ts";
