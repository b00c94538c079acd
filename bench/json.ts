/**
 * Exact JSON and the JSONL reader against plain `JSON.parse`, over every *.jsonl below a folder:
 * `npm run bench -- json <folder>`. The variants take turns, so that a slow moment hits them all; best and median.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { JsonlSplitter, readJsonl } from "../src/adapters/kit/log/jsonl.ts";
import { decodeUtf8, tryParseJson } from "../src/base/json/json.ts";

const ROUNDS = 15;
const CHUNK = 256 * 1024;

interface File {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Each returns how many records it saw, so that nothing is optimised away and all are seen to do the same. */
const VARIANTS: Readonly<Record<string, (files: readonly File[]) => number | Promise<number>>> = {
  "floor: decode file, split, JSON.parse": floor,
  "floor by line: split, decode, JSON.parse": floorByLine,
  "exact: split, decodeUtf8, tryParseJson": exact,
  "exact by file: decodeUtf8, split, tryParseJson": exactByFile,
  "reader: JsonlSplitter over the same bytes": splitter,
  "reader: readJsonl, with the reading": reader,
};

export async function run(): Promise<void> {
  const folder = process.argv[3];
  if (folder === undefined) throw new Error("name a folder with .jsonl files");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl"))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path): File => ({ path, bytes: readFileSync(path) }));
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  const times = new Map(Object.keys(VARIANTS).map((name) => [name, [] as number[]]));
  const counts = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [name, variant] of Object.entries(VARIANTS)) {
      const start = performance.now();
      counts.set(name, await variant(files));
      times.get(name)?.push(performance.now() - start);
    }
  console.log(`${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, ${ROUNDS} rounds`);
  console.log(`${"".padEnd(48)} records  best ms  median   MB/s  ratio best  median`);
  const floors = times.get(Object.keys(VARIANTS)[0] ?? "") ?? [];
  for (const [name, all] of times) {
    const { best, median } = summary(all);
    console.log(
      name.padEnd(48),
      String(counts.get(name)).padStart(7),
      best.toFixed(0).padStart(8),
      median.toFixed(0).padStart(7),
      (bytes / best / 1e3).toFixed(0).padStart(6),
      (best / summary(floors).best).toFixed(3).padStart(11),
      // Of the ratios inside each round: a busy machine slows neighbours alike.
      summary(all.map((time, round) => time / (floors[round] ?? 0)))
        .median.toFixed(3)
        .padStart(7),
    );
  }
}

function summary(times: readonly number[]): { readonly best: number; readonly median: number } {
  const sorted = times.toSorted((a, b) => a - b);
  return { best: sorted[0] ?? 0, median: sorted[sorted.length >> 1] ?? 0 };
}

function floor(files: readonly File[]): number {
  let records = 0;
  for (const { bytes } of files)
    for (const line of bytes.toString("utf8").split("\n")) if (line !== "") records += parsePlainly(line);
  return records;
}

function floorByLine(files: readonly File[]): number {
  let records = 0;
  for (const { bytes } of files)
    for (const [start, end] of lines(bytes)) records += parsePlainly(bytes.toString("utf8", start, end));
  return records;
}

function exact(files: readonly File[]): number {
  let records = 0;
  for (const { bytes } of files)
    for (const [start, end] of lines(bytes)) {
      const decoded = decodeUtf8(bytes.subarray(start, end));
      if (decoded.ok && tryParseJson(decoded.text).kind === "value") records += 1;
    }
  return records;
}

function exactByFile(files: readonly File[]): number {
  let records = 0;
  for (const { bytes } of files) {
    const decoded = decodeUtf8(bytes);
    if (!decoded.ok) continue;
    for (const line of decoded.text.split("\n"))
      if (line !== "" && tryParseJson(line).kind === "value") records += 1;
  }
  return records;
}

function splitter(files: readonly File[]): number {
  let records = 0;
  for (const { bytes } of files) {
    const split = new JsonlSplitter();
    for (let at = 0; at < bytes.length; at += CHUNK)
      records += count(split.push(bytes.subarray(at, at + CHUNK)));
    records += count(split.finish());
  }
  return records;
}

async function reader(files: readonly File[]): Promise<number> {
  let records = 0;
  for (const { path } of files) for await (const items of readJsonl(path)) records += count(items);
  return records;
}

function count(items: readonly { readonly kind: string }[]): number {
  return items.reduce((sum, item) => sum + (item.kind === "record" ? 1 : 0), 0);
}

function parsePlainly(text: string): number {
  try {
    JSON.parse(text);
    return 1;
  } catch {
    return 0;
  }
}

function* lines(bytes: Buffer): Generator<readonly [number, number]> {
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    if (end > start) yield [start, end];
    start = end + 1;
  }
}
