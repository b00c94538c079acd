/** Answers of the wire as text for people and models, for every surface. */
export { explanationText } from "./explanation.ts";
export type { Phrasing } from "./transcript.ts";
export { getTranscript, searchTranscript } from "./transcript.ts";
