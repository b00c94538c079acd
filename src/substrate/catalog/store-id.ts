/**
 * The identity of a store and the marks of its readers, in the metadata of a table without rows.
 *
 * A reader leaves a mark whenever it has stored rows, before its cursors move (spec.md#sync-marks): random, so that only a
 * store that holds those rows has it. An older copy that was put in place lacks it, whatever was committed there since.
 */
import { randomBytes } from "node:crypto";
import { PondError } from "../../base/errors.ts";
import { sentence } from "../../base/sentence.ts";
import type { Catalog } from "./catalog.ts";
import type { Arrow } from "../engine/lance.ts";
import { ID_KEY, ID_TABLE, markKey, parseMarks } from "../local/peek.ts";

/** The column that carries the marks: a schema's own metadata cannot change after creation. */
export const MARKED_COLUMN = "id";
/** Of a reader that was killed between its mark and its cursors the mark before is as good. */
const MARKS_KEPT = 4;
/** Every mark is a version of a small table; every so many the old ones are removed. */
const VERSIONS_KEPT = 64;

/** The id, if the store has one. */
export async function readStoreId(catalog: Catalog): Promise<string | undefined> {
  return (await readIdentity(catalog))?.id;
}

/** The id of a store and the marks that a reader left in it, the newest first. */
export async function readIdentity(
  catalog: Catalog,
  reader?: string,
): Promise<{ readonly id: string; readonly marks: readonly string[] } | undefined> {
  const schema = await catalog.schema(ID_TABLE);
  if (schema === undefined) return undefined;
  const id = schema.metadata.get(ID_KEY);
  if (id === undefined)
    throw new PondError("storage_unavailable", `the store has a table ${ID_TABLE} without an id`, {
      reason: "corrupt",
      hint: "it was not made by pond: point storage.url at another place",
    });
  return { id, marks: reader === undefined ? [] : marksIn(schema, reader) };
}

function marksIn(schema: Arrow.Schema, reader: string): readonly string[] {
  const column = schema.fields.find(({ name }) => name === MARKED_COLUMN);
  return parseMarks(column?.metadata.get(markKey(reader)));
}

/** Leaves a mark of a reader and says it. */
export async function leaveMark(catalog: Catalog, reader: string): Promise<string> {
  const mark = randomBytes(8).toString("hex");
  const version = await catalog.annotate(ID_TABLE, MARKED_COLUMN, (schema) => ({
    [markKey(reader)]: [mark, ...marksIn(schema, reader)].slice(0, MARKS_KEPT).join(" "),
  }));
  if (version % VERSIONS_KEPT === 0) await catalog.tidy(ID_TABLE);
  return mark;
}

/** Takes away old marks, and what was left behind by one who was killed while it left one. */
export function tidyMarks(catalog: Catalog): Promise<void> {
  return catalog.cleanUp(ID_TABLE);
}

/** No reader's cursors hold any more: rows were lost that they call stored. */
export async function forgetMarks(catalog: Catalog): Promise<void> {
  // The table that they stand in may be what was lost.
  await storeId(catalog);
  await catalog.annotate(ID_TABLE, MARKED_COLUMN, (schema) => {
    const column = schema.fields.find(({ name }) => name === MARKED_COLUMN);
    const keys = [...(column?.metadata.keys() ?? [])].filter((key) =>
      key.startsWith(markKey("").slice(0, -1)),
    );
    return Object.fromEntries([...keys, FORGOTTEN_MARKS].map((key) => [key, randomBytes(8).toString("hex")]));
  });
}

/** So that there is something to say also where no reader has left a mark. */
const FORGOTTEN_MARKS = "pond.forgotten_marks";

/** The id, made now if the store has none. Of several processes that make one at once, all read the same. */
export async function storeId(catalog: Catalog): Promise<string> {
  const stored = await readStoreId(catalog);
  if (stored !== undefined) return stored;
  await catalog.createMarker(ID_TABLE, new Map([[ID_KEY, crypto.randomUUID()]]));
  const made = await readStoreId(catalog);
  if (made === undefined)
    throw new PondError(
      "storage_unavailable",
      `the store's identity is damaged: ${ID_TABLE} cannot be opened`,
      {
        reason: "corrupt",
        hint: sentence`run ${{ do: "repair" }}`,
      },
    );
  return made;
}
