/** A file that is one JSON document, also one that is no exact JSON. */
export type { DocumentValue } from "./document.ts";
export { MAX_FILE_BYTES, parseFile, parseText, sideFileRecord, tooLong } from "./document.ts";
export { membersOf, readableIn } from "./readable.ts";
