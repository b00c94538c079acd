/** What does not compile in a filter: a column that the table lacks, and a value that the column cannot be compared with. */
import { and, contains, createdAfter, eq, ge, isIn, isNull, not, or, startsWith } from "./predicate.ts";
import type { Predicate } from "./predicate.ts";
import { defineTable } from "./spec.ts";
import type { Table } from "../table.ts";

const NOTES = defineTable({
  name: "notes",
  version: 1,
  primaryKey: ["id"],
  columns: {
    id: { type: "utf8" },
    size: { type: "int32", nullable: true },
    hash: { type: "int64", nullable: true },
    written_at: { type: "timestamp_us" },
    done: { type: "bool" },
    vector: { type: "float16_vector", dim: 4 },
    data: { type: "blob" },
  },
});
declare const notes: Table<typeof NOTES>;
declare const column: string;

export const compiles: readonly Predicate<typeof NOTES>[] = [
  eq("id", "a"),
  ge("written_at", 1),
  isIn("hash", [1n, 2n]),
  isIn("hash", [1]),
  eq("done", true),
  startsWith("id", "a"),
  not(isNull("data")),
  createdAfter(3),
  and(),
  or(and(eq("id", "a"), eq("size", 1)), contains("id", "b"), createdAfter(3)),
];

export const doesNot = (): unknown => [
  // @ts-expect-error no such column
  notes.count(eq("name", "a")),
  // @ts-expect-error a column of which only the run time knows the name
  notes.count(eq(column, "a")),
  // @ts-expect-error a number for text
  notes.count(eq("id", 1)),
  // @ts-expect-error text for an instant
  notes.count(ge("written_at", "2025-01-01")),
  // @ts-expect-error a bigint for 32 bits
  notes.count(eq("size", 1n)),
  // @ts-expect-error one value of the list
  notes.count(isIn("size", [1, "2"])),
  // @ts-expect-error a blob is compared with nothing
  notes.count(eq("data", "a")),
  // @ts-expect-error only text has a beginning
  notes.count(startsWith("size", "1")),
  // @ts-expect-error no such column, of which it is asked whether it is null
  notes.count(isNull("name")),
  // @ts-expect-error deep inside
  notes.count(and(eq("id", "a"), or(eq("done", true), not(eq("name", "a"))))),
  // @ts-expect-error the value of one of two
  notes.count(and(eq("id", "a"), eq("done", "true"))),
  // @ts-expect-error in a scan
  notes.scan({ select: ["id"], where: eq("name", "a") }),
];
