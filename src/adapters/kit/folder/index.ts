/** A folder of JSON files that are read as one. */
export { FolderReader } from "./folder-reader.ts";
