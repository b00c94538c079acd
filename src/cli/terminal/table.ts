/**
 * Rows as text. On a terminal: aligned columns that fit its width, the widest cut first, brief texts where that would
 * leave too little of the others, and one block a row where even that does not fit. In a pipe: a header and one line a row, cells separated by tabs, nothing cut; white space
 * inside a cell is folded to a space in both (exact values: --json). Pure.
 */
import type { Style } from "./style.ts";
import { displayWidth, oneLine, shorten } from "./text.ts";

export interface Column<Row> {
  readonly header: string;
  /** The text of a cell; nothing for undefined. No colours here: they are `style`. */
  cell(row: Row): string | number | undefined;
  /** A shorter text that does as well, for where there is little room. */
  brief?(row: Row): string;
  /** Right for numbers. They are never cut. */
  readonly align?: "left" | "right";
  /** Which end goes when the cell is cut; paths tell more at their end. */
  readonly cut?: "start" | "end";
  style?(text: string, row: Row): string;
}

export interface TableLayout {
  /** Columns of the terminal; undefined in a pipe. */
  readonly width: number | undefined;
  readonly style: Style;
}

const GAP = 2;
/** A column narrower than this tells nothing. */
const NARROWEST = 8;
/** What is cut to less than this is hard to read: brief texts of other columns make room. */
const COMFORTABLE = 20;

export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  layout: TableLayout,
): string {
  const cellsOf = (text: (column: Column<Row>, row: Row) => string | number | undefined): string[][] =>
    rows.map((row) => columns.map((column) => oneLine(String(text(column, row) ?? ""))));
  const headers = columns.map((column) => column.header);
  const whole = cellsOf((column, row) => column.cell(row));
  if (layout.width === undefined) return [headers, ...whole].map((line) => line.join("\t")).join("\n");
  const roomFor = (cells: readonly string[][]): Room => {
    const natural = headers.map((header, i) =>
      Math.max(displayWidth(header), ...cells.map((line) => displayWidth(line[i] ?? ""))),
    );
    const widths = fit(natural, columns, layout.width ?? 0);
    const cut = widths?.filter((width, i) => width < (natural[i] ?? 0)) ?? [0];
    return { cells, widths, narrowest: Math.min(...cut) };
  };
  const first = roomFor(whole);
  const isTight = first.narrowest < COMFORTABLE && columns.some((column) => "brief" in column);
  const { cells, widths } = isTight
    ? roomFor(cellsOf((column, row) => column.brief?.(row) ?? column.cell(row)))
    : first;
  if (widths === undefined) return renderBlocks(whole, columns, { rows, layout });
  const line = (texts: readonly string[], row: Row | undefined): string =>
    texts
      .map((text, i) => {
        const column = columns[i];
        const padded = pad(shorten(text, widths[i] ?? 0, column?.cut), widths[i] ?? 0, column?.align);
        const last = i === texts.length - 1 ? padded.trimEnd() : padded;
        return row === undefined ? layout.style.bold(last) : (column?.style?.(last, row) ?? last);
      })
      .join(" ".repeat(GAP));
  return [line(headers, undefined), ...cells.map((texts, i) => line(texts, rows[i]))].join("\n");
}

interface Room {
  readonly cells: readonly string[][];
  readonly widths: readonly number[] | undefined;
  /** Of the columns that are cut; infinite when none is. */
  readonly narrowest: number;
}

/** Takes from the widest column that can be cut, one by one; undefined when the table cannot fit. */
function fit(
  natural: readonly number[],
  columns: readonly Pick<Column<never>, "align">[],
  width: number,
): readonly number[] | undefined {
  const widths = natural.map((w, i) => (columns[i]?.align === "right" ? w : Math.min(w, width)));
  let excess = widths.reduce((sum, w) => sum + w, 0) + GAP * (widths.length - 1) - width;
  while (excess > 0) {
    let widest = -1;
    widths.forEach((w, i) => {
      if (columns[i]?.align !== "right" && w > NARROWEST && w > (widths[widest] ?? 0)) widest = i;
    });
    if (widest < 0) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess--;
  }
  return widths;
}

/** `header: value` lines, an empty line between rows. */
function renderBlocks<Row>(
  cells: readonly (readonly string[])[],
  columns: readonly Column<Row>[],
  { rows, layout }: { readonly rows: readonly Row[]; readonly layout: TableLayout },
): string {
  return cells
    .map((texts, r) =>
      texts
        .map((text, i) => {
          const row = rows[r];
          const styled = row === undefined ? text : (columns[i]?.style?.(text, row) ?? text);
          return `${layout.style.bold(`${columns[i]?.header ?? ""}:`)} ${styled}`;
        })
        .join("\n"),
    )
    .join("\n\n");
}

function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(text)));
  return align === "right" ? space + text : text + space;
}
