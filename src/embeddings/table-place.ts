/** Where the table of vectors is in the package: beside src/ and dist/, found from a file as deep as a room's. */
import { join } from "node:path";

export const TABLE_FOLDER = join(import.meta.dirname, "../../data/static-table");
