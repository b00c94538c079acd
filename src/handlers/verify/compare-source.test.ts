import { expect, test } from "vitest";
import { UnitCoverage } from "./compare-source.ts";

test("files and rows that no compared session has are missing", () => {
  const coverage = new UnitCoverage();
  coverage.cover("/place/a.jsonl", {});
  coverage.cover("/place/x.db", { tables: new Map([["message", 2]]) });
  coverage.cover("/place/x.db", { tables: new Map([["message", 1]]) });
  const tables = [
    { name: "message", rows: 3 },
    { name: "part", rows: 0 },
  ];
  expect(coverage.missing({ files: ["/place/a.jsonl"], tables })).toEqual([]);
  expect(
    coverage.missing({
      files: ["/place/a.jsonl", "/place/a/note.md"],
      tables: [...tables, { name: "todo", rows: 2 }],
    }),
  ).toEqual(["/place/a/note.md is not stored", "2 of 2 rows of the table todo belong to no stored session"]);
});
