/**
 * A table of vectors: a header, and one file with what it describes, checked by its hash before anything of it is used. Made
 * by scripts/static-table.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PondError } from "../../base/errors.ts";

export const HEADER_FILE = "table.json";
export const DATA_FILE = "table.bin";
const FORMAT = 1;

export interface TableHeader {
  readonly format: typeof FORMAT;
  readonly dimension: number;
  readonly rows: number;
  /** Of the data file. */
  readonly sha256: string;
}

export interface Table {
  readonly header: TableHeader;
  /** Row after row; a value times its row's scale is the component. */
  readonly values: Int8Array;
  readonly scales: Float32Array;
  readonly pieces: ReadonlyMap<string, number>;
}

/** The data file: a scale for each row, the rows, and the pieces, each on a line. */
export function tableBytes(scales: Float32Array, values: Int8Array, pieces: readonly string[]): Buffer {
  const scaleBytes = Buffer.alloc(scales.length * 4);
  for (const [row, scale] of scales.entries()) scaleBytes.writeFloatLE(scale, row * 4);
  return Buffer.concat([scaleBytes, Buffer.from(values.buffer), Buffer.from(pieces.join("\n"))]);
}

export async function readTable(folder: string): Promise<Table> {
  const [written, data] = await Promise.all([
    readFile(join(folder, HEADER_FILE), "utf8"),
    readFile(join(folder, DATA_FILE)),
  ]);
  const header: TableHeader = JSON.parse(written);
  const found = createHash("sha256").update(data).digest("hex");
  if (header.format !== FORMAT || found !== header.sha256) throw damaged(folder, header, found);
  const { dimension, rows } = header;
  const scales = new Float32Array(rows);
  for (let row = 0; row < rows; row++) scales[row] = data.readFloatLE(row * 4);
  const from = rows * 4;
  const values = new Int8Array(data.buffer, data.byteOffset + from, rows * dimension);
  const pieces = new Map<string, number>();
  for (const piece of data.toString("utf8", from + rows * dimension).split("\n"))
    pieces.set(piece, pieces.size);
  return { header, values, scales, pieces };
}

function damaged(folder: string, header: TableHeader, found: string): PondError {
  return new PondError(
    "internal",
    `the table of vectors in ${folder} is not the one its header describes: format ${header.format}, SHA-256 ${found}`,
    { hint: "install pond again" },
  );
}
