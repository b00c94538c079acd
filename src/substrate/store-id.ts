/** The identity of a store: a random id in the schema metadata of a table without rows. */
import { randomUUID } from "node:crypto";
import { PondError } from "../base/errors.ts";
import type { Catalog } from "./catalog.ts";

export const ID_TABLE = "pond_store";
export const ID_KEY = "pond.store_id";

/** Reads the id, or makes it. Of several processes that make one at once, one table wins and all read it. */
export async function storeId(catalog: Catalog): Promise<string> {
  const stored = await readId(catalog);
  if (stored !== undefined) return stored;
  const { arrow } = catalog.lance;
  const schema = new arrow.Schema(
    [new arrow.Field("id", new arrow.Utf8(), false)],
    new Map([[ID_KEY, randomUUID()]]),
  );
  await catalog.create(ID_TABLE, schema);
  const made = await readId(catalog);
  if (made === undefined)
    throw new PondError("internal", "the store's identity vanished while it was being made");
  return made;
}

async function readId(catalog: Catalog): Promise<string | undefined> {
  const metadata = await catalog.metadata(ID_TABLE);
  if (metadata === undefined) return undefined;
  const id = metadata.get(ID_KEY);
  if (id === undefined)
    throw new PondError("storage_unavailable", `${catalog.location(ID_TABLE)} has no store id`, {
      reason: "corrupt",
      hint: "run pond doctor",
    });
  return id;
}
