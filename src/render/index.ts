/** Answers of the wire as text for people and models, for every surface. */
export { explanationText } from "./explanation.ts";
export type { Phrasing } from "./phrasing.ts";
export { searchTranscript } from "./search-transcript.ts";
export { getTranscript } from "./transcript.ts";
