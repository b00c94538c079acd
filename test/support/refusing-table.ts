/** A table that cannot hold some rows: only one of hundreds of megabytes is such by itself. */
import { PondError } from "../../src/base/errors.ts";
import type { RowTarget } from "../../src/sessions/tables/tables.ts";
import type { TableSpec } from "../../src/substrate/index.ts";

export function refusing<S extends TableSpec>(
  table: RowTarget<S>,
  isRefused: (row: Readonly<Record<string, unknown>>) => boolean,
): RowTarget<S> {
  return {
    spec: table.spec,
    knownKeys: (values, place) => table.knownKeys(values, place),
    insert: (batch) => table.insert(batch),
    batch: () => {
      const batch = table.batch();
      const [add, check] = [batch.add.bind(batch), batch.check.bind(batch)];
      const refuse = (row: Readonly<Record<string, unknown>>): void => {
        if (isRefused(row)) throw new PondError("validation_failed", "no row can hold it");
      };
      batch.add = (row) => {
        refuse(row);
        return add(row);
      };
      batch.check = (row) => {
        refuse(row);
        check(row);
      };
      return batch;
    },
  };
}
