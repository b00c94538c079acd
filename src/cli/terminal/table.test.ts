/** Tables on terminals of every width, and in pipes. */
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createStyle } from "./style.ts";
import { renderTable } from "./table.ts";
import type { Column } from "./table.ts";
import { displayWidth } from "./text.ts";

interface Row {
  readonly project: string;
  readonly title: string;
  readonly count: number;
}
const COLUMNS: readonly Column<Row>[] = [
  { header: "PROJECT", cell: (row) => row.project, cut: "start" },
  { header: "TITLE", cell: (row) => row.title },
  { header: "COUNT", cell: (row) => row.count, align: "right" },
];
const ROWS: readonly Row[] = [
  { project: "/home/me/src/pond", title: "\u6c60\u5858 pond \u{1f986}", count: 7 },
  { project: "/srv/a", title: "cafe\u0301 and a long line of words", count: 12_345 },
];
const plain = createStyle(false);
const render = (width: number | undefined, rows = ROWS): string =>
  renderTable(rows, COLUMNS, { width, style: plain });

test("columns are aligned by what is shown, numbers to the right", () => {
  expect(render(100).split("\n")).toEqual([
    "PROJECT            TITLE                          COUNT",
    "/home/me/src/pond  \u6c60\u5858 pond \u{1f986}                       7",
    "/srv/a             cafe\u0301 and a long line of words  12345",
  ]);
});

test("what does not fit is cut, the widest column first", () => {
  expect(render(40).split("\n")).toEqual([
    "PROJECT          TITLE             COUNT",
    ".../me/src/pond  \u6c60\u5858 pond \u{1f986}          7",
    "/srv/a           cafe\u0301 and a lo...  12345",
  ]);
});

test("a column with a brief text gives way before others are cut to little, and is whole where there is room", () => {
  const id = { header: "ID", cell: () => "0".repeat(30), brief: () => "000", align: "right" } as const;
  const at = (width: number): string =>
    renderTable(ROWS, [...COLUMNS, id], { width, style: plain }).split("\n")[2] ?? "";
  expect(at(100)).toMatch(/ a long line of words {2}12345 {2}0{30}$/);
  expect(at(70)).toMatch(/ a long line of words {2}12345 {2}000$/);
  expect(at(45)).toMatch(/^\/srv\/a .* and a lo\.\.\. {2}12345 {2}000$/);
  expect(at(15)).toBe("COUNT: 7");
});

test("a terminal too narrow for the columns shows one block a row", () => {
  expect(render(15)).toBe(
    "PROJECT: /home/me/src/pond\nTITLE: \u6c60\u5858 pond \u{1f986}\nCOUNT: 7\n\n" +
      "PROJECT: /srv/a\nTITLE: cafe\u0301 and a long line of words\nCOUNT: 12345",
  );
});

test("a pipe gets a header and tab-separated cells, whole, one line a row", () => {
  const rows = [{ project: "a\tb\nc", title: "x".repeat(500), count: 1 }];
  expect(render(undefined, rows)).toBe(`PROJECT\tTITLE\tCOUNT\na b c\t${"x".repeat(500)}\t1`);
});

test("styles colour cells without moving them", () => {
  const columns = COLUMNS.map((column) => ({ ...column, style: createStyle(true).good }));
  const colored = renderTable(ROWS, columns, { width: 100, style: createStyle(true) });
  expect(colored).toContain("\x1b[32m/srv/a           \x1b[39m  \x1b[32mcafe\u0301");
  expect(stripVTControlCharacters(colored)).toBe(render(100));
});

test("no row is wider than the terminal, whatever is in the cells", () => {
  const row = fc.record({
    project: fc.string({ unit: "grapheme" }),
    title: fc.string({ unit: "grapheme", maxLength: 60 }),
    count: fc.nat({ max: 99_999 }),
  });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 5 }), fc.integer({ min: 30, max: 120 }), (rows, width) => {
      const lines = render(width, rows).split("\n");
      expect(lines).toHaveLength(rows.length + 1);
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
    }),
  );
});
