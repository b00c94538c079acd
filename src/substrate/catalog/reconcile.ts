/**
 * A stored table against its declaration: refuses what we must not touch, adds what a newer declaration adds
 * (spec.md#lance-dataset-schema-version).
 */
import { isPondError, PondError } from "../../base/errors.ts";
import { APPEND_FROM, appendAfterOlder, appendFromOf } from "../handle/append.ts";
import { emptyIpc, fieldOf } from "../arrow/schema.ts";
import { besideMergers, call, type Handle } from "../handle/handle.ts";
import { type Arrow, nativeAddColumns } from "../engine/lance.ts";
import { SCHEMA_VERSION } from "../local/peek.ts";
import { isNullable, type TableSpec } from "../engine/spec.ts";

const PK_POSITION = "lance-schema:unenforced-primary-key:position";

export async function reconcile(handle: Handle): Promise<void> {
  const { spec } = handle;
  const stored = (await call(handle, "read", (table) => table.schema())).value;
  const version = versionOf(stored, spec);
  if (version > spec.version)
    throw unsupported(
      `table ${spec.name} has schema version ${version}, this pond knows ${spec.version}`,
      "install a newer pond",
      { stored: version, known: spec.version },
    );
  assertKey(stored, spec);
  const missing = missingColumns(stored, spec);
  const rigid = missing.find((name) => !isNullable(spec.columns[name] ?? { type: "utf8" }));
  if (rigid !== undefined)
    throw unsupported(
      `table ${spec.name} of schema version ${version} lacks column ${rigid}`,
      "export with the older pond, then import into a new store",
      { stored: version, known: spec.version },
    );
  if (missing.length === 0 && version >= spec.version) return;
  const isRaised = version < spec.version && appendFromOf(stored, spec) === undefined;
  try {
    await besideMergers(handle, () => upgrade(handle, missing, isRaised));
  } catch (error) {
    // A store that may only be read is as good without the newer number; a column that is missing would be missed.
    if (missing.length > 0 || !isPondError(error) || error.reason !== "permission") throw error;
  }
}

/**
 * Additive only, so a race of upgraders ends the same: whoever is second finds the columns there. From a raise of the
 * version on older ponds refuse the table: once those have ended that had it open, it may be appended to
 * (spec.md#storage-append).
 */
async function upgrade(handle: Handle, missing: readonly string[], isRaised: boolean): Promise<void> {
  const { spec, policy } = handle;
  if (missing.length > 0) await addColumns(handle, missing);
  const metadata = {
    [SCHEMA_VERSION]: String(spec.version),
    ...(isRaised ? { [APPEND_FROM]: appendAfterOlder(policy.clock.now()) } : {}),
  };
  await call(handle, "upgrade", (table) =>
    table.updateFieldMetadata([{ path: spec.primaryKey[0], metadata }]),
  );
  await handle.settle();
}

async function addColumns(handle: Handle, missing: readonly string[]): Promise<void> {
  const { spec, lance } = handle;
  const fields = Object.entries(spec.columns)
    .filter(([name]) => missing.includes(name))
    .map(([name, column]) => fieldOf(lance, { name, column, spec }));
  const schema = emptyIpc(lance, new lance.arrow.Schema(fields));
  try {
    await call(handle, "add columns to", (table) => nativeAddColumns(table, schema));
  } catch (error) {
    const now = await call(handle, "read", async (table) => {
      await table.checkoutLatest();
      return table.schema();
    });
    if (missingColumns(now.value, spec).length > 0) throw error;
  }
}

/** The larger of what the table was created with and what an upgrade left on the first key column. */
function versionOf(schema: Arrow.Schema, spec: TableSpec): number {
  const lead = schema.fields.find((field) => field.name === spec.primaryKey[0]);
  const versions = [schema.metadata.get(SCHEMA_VERSION), lead?.metadata.get(SCHEMA_VERSION)];
  return Math.max(...versions.map((text) => Number(text ?? 0)));
}

const missingColumns = (schema: Arrow.Schema, spec: TableSpec): string[] =>
  Object.keys(spec.columns).filter((name) => !schema.fields.some((field) => field.name === name));

/** Without exactly this key in the table's own metadata, concurrent writers double rows without an error. */
function assertKey(schema: Arrow.Schema, spec: TableSpec): void {
  const position = (field: Arrow.Field): number => Number(field.metadata.get(PK_POSITION));
  const stored = schema.fields
    .filter((field) => field.metadata.has(PK_POSITION))
    .toSorted((a, b) => position(a) - position(b))
    .map((field) => field.name);
  if (JSON.stringify(stored) === JSON.stringify(spec.primaryKey)) return;
  const message = `table ${spec.name} was not made by pond: its key is (${stored.join(", ")}), not (${spec.primaryKey.join(", ")})`;
  throw new PondError("storage_unavailable", message, {
    reason: "unsupported",
    hint: "point pond at another place",
  });
}

const unsupported = (message: string, hint: string, data: Readonly<Record<string, unknown>>): PondError =>
  new PondError("version_unsupported", message, { hint, data });
