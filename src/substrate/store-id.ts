/** The identity of a store: a random id in the schema metadata of a table without rows. */
import { PondError } from "../base/errors.ts";
import type { Catalog } from "./catalog.ts";
import { ID_KEY, ID_TABLE } from "./local/peek.ts";

/** The id, if the store has one. */
export async function readStoreId(catalog: Catalog): Promise<string | undefined> {
  const metadata = await catalog.metadata(ID_TABLE);
  if (metadata === undefined) return undefined;
  const id = metadata.get(ID_KEY);
  if (id === undefined)
    throw new PondError("storage_unavailable", `the store has a table ${ID_TABLE} without an id`, {
      reason: "corrupt",
      hint: "run pond doctor",
    });
  return id;
}

/** The id, made now if the store has none. Of several processes that make one at once, all read the same. */
export async function storeId(catalog: Catalog): Promise<string> {
  const stored = await readStoreId(catalog);
  if (stored !== undefined) return stored;
  await catalog.createMarker(ID_TABLE, new Map([[ID_KEY, crypto.randomUUID()]]));
  const made = await readStoreId(catalog);
  if (made === undefined)
    throw new PondError("internal", "the store's identity vanished while it was being made");
  return made;
}
