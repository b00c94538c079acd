/** A file that is one JSON document, also one that is no exact JSON. */
export { membersOf, readableIn } from "./readable.ts";
