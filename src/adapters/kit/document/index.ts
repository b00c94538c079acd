/** A file that is one JSON document, also one that is no exact JSON. */
export type { DocumentValue } from "./document.ts";
export { MAX_FILE_BYTES, parseText, sideFileRecord, tooLong } from "./document.ts";
export { membersOf, readableIn } from "./readable.ts";
/** @public For a client whose sessions are single files. */
export { parseFile } from "./document.ts";
