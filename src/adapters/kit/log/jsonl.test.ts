/** JSON Lines as they are on disk: cut anywhere, damaged anywhere, growing while they are read. */
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { equalJson, type JsonValue, parseJson, stringifyJson } from "../../../base/json/json.ts";
import { type JsonlItem, JsonlSplitter, type JsonlStart, readJsonl, type ReadJsonlOptions } from "./jsonl.ts";
import { SourceFile } from "../files/source-file.ts";

const folder = mkdtempSync(join(tmpdir(), "pond-jsonl-"));
afterAll(() => rmSync(folder, { recursive: true }));

function split(bytes: Uint8Array, start: JsonlStart = {}, cuts: readonly number[] = []): JsonlItem[] {
  const splitter = new JsonlSplitter(start);
  const items: JsonlItem[] = [];
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  let from = 0;
  for (const end of ends) {
    // One buffer for all chunks, wiped after each: the splitter may keep none of it.
    const chunk = Buffer.from(bytes.subarray(from, end));
    items.push(...splitter.push(chunk));
    chunk.fill(0x2a);
    from = end;
  }
  return [...items, ...splitter.finish()];
}

const ofText = (text: string, start?: JsonlStart): JsonlItem[] => split(Buffer.from(text), start);

const valuesOf = (items: readonly JsonlItem[]): JsonValue[] =>
  items.flatMap((item) => (item.kind === "record" ? [item.value] : []));

/** What a line adds: the records and bad lines that a reader must see. */
interface Line {
  readonly bytes: Buffer;
  readonly records: readonly JsonValue[];
  readonly isBad?: boolean;
  readonly isScalar?: boolean;
}

const object = fc
  .dictionary(fc.string({ maxLength: 4, unit: "binary" }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map(asJson);

function asJson(value: unknown): JsonValue {
  // fast-check's objects have no prototype; what is read has one.
  return parseJson(JSON.stringify(value));
}

const blank = fc.constantFrom("", " ", "\t", "\r", " \t ");
const ending = fc.constantFrom("\n", "\n", "\r\n");
const goodLine = fc
  .tuple(fc.array(object, { minLength: 1, maxLength: 3 }), blank, ending)
  .map(([records, gap, end]): Line => ({
    bytes: Buffer.from(records.map((record) => gap + stringifyJson(record)).join("") + gap + end),
    records,
  }));
const scalarLine = fc
  .oneof(fc.integer(), fc.string(), fc.array(object, { maxLength: 2 }), fc.constant(null))
  .map((value): Line => ({
    bytes: Buffer.from(`${JSON.stringify(value)}\n`),
    records: [asJson(value)],
    isScalar: true,
  }));
const blankLine = fc
  .tuple(blank, ending)
  .map(([gap, end]): Line => ({ bytes: Buffer.from(gap + end), records: [] }));
// None starts with a whole object: such a line would be data for as long as it ends there.
const badLine = fc
  .constantFrom('{"a":1,"a":2}', "{", '{"a":1', "]", '"', "x", '{"a":"\xff"}', '{"torn":{"a":1}', "\0\0\0")
  .map((text): Line => ({ bytes: Buffer.from(`${text}\n`, "latin1"), records: [], isBad: true }));
const lines = fc.array(fc.oneof({ weight: 4, arbitrary: goodLine }, scalarLine, blankLine, badLine), {
  maxLength: 8,
});
const file = fc.tuple(fc.constantFrom("", "\ufeff"), lines, fc.boolean()).map(([mark, all, isTerminated]) => {
  const bytes = Buffer.concat([Buffer.from(mark), ...all.map((line) => line.bytes)]);
  const isCut = !isTerminated && all.length > 0;
  return { lines: all, bytes: isCut ? bytes.subarray(0, -1) : bytes, isCut };
});

/** An item without its place, to compare by value. */
function essence(item: JsonlItem): string {
  if (item.kind === "record") return `${item.line} ${item.glued ?? "-"} ${stringifyJson(item.value)}`;
  return `${item.line} ${item.kind} ${"raw" in item ? Buffer.from(item.raw).toString("hex") : ""}`;
}

function expectedOf(all: readonly Line[], isCut: boolean): string[] {
  return all.flatMap((line, at) => {
    const number = at + 1;
    const records = line.records.map((record, index) => {
      const glued = line.records.length > 1 ? index : "-";
      return `${number} ${glued} ${stringifyJson(record)}`;
    });
    if (isCut && number === all.length && (line.isBad || line.isScalar)) return [`${number} tail `];
    return line.isBad ? [`${number} bad_line ${line.bytes.subarray(0, -1).toString("hex")}`] : records;
  });
}

describe("any file", () => {
  it("gives its records in order, its bad lines whole, and its tail", () => {
    fc.assert(
      fc.property(file, ({ lines: all, bytes, isCut }) => {
        const items = split(bytes);
        expect(items.map(essence)).toEqual(expectedOf(all, isCut));
        for (const item of items) expect(item.terminated).toBe(!isCut || item.line < all.length);
      }),
      { numRuns: 500 },
    );
  });

  it("gives the same items however it is cut into chunks", () => {
    fc.assert(
      fc.property(file, fc.array(fc.nat(), { maxLength: 20 }), ({ bytes }, cuts) => {
        expect(split(bytes, {}, cuts)).toEqual(split(bytes));
        expect(split(bytes, {}, [...bytes.keys()])).toEqual(split(bytes));
      }),
      { numRuns: 300 },
    );
  });

  it("has nothing but white space between the ranges of its items", () => {
    fc.assert(
      fc.property(file, ({ bytes }) => {
        let from = 0;
        for (const { offset, end } of split(bytes)) {
          expect(bytes.subarray(from, offset).toString()).toMatch(/^\ufeff?\s*$/);
          expect(end).toBeGreaterThan(offset);
          from = end;
        }
        expect(bytes.subarray(from).toString()).toMatch(/^\ufeff?\s*$/);
      }),
    );
  });

  it("reads every byte prefix as a prefix of its items", () => {
    fc.assert(
      fc.property(file, ({ bytes }) => {
        const all = split(bytes).map((item) => essence(item).replace(/^(\d+) \d /, "$1 - "));
        for (let end = 0; end < bytes.length; end += 1) {
          const items = split(bytes.subarray(0, end)).filter((item) => item.kind !== "tail");
          const some = items.map((item) => essence(item).replace(/^(\d+) \d /, "$1 - "));
          expect(some).toEqual(all.slice(0, some.length));
        }
      }),
      { numRuns: 25 },
    );
  });

  it("goes on from the end of any line as if it had never stopped", () => {
    fc.assert(
      fc.property(file, ({ bytes }) => {
        const items = split(bytes);
        for (const [at, { line, end }] of items.entries()) {
          if (items[at + 1]?.line === line) continue;
          expect(split(bytes.subarray(end), { offset: end, line: line + 1 })).toEqual(items.slice(at + 1));
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe("a line", () => {
  it("has its number and its byte range, past CRLF, blank lines and multi-byte characters", () => {
    expect(ofText('{"a":"\u00e9"}\r\n\r\n \n{"b":2}\n3\n')).toEqual([
      { kind: "record", value: { a: "\u00e9" }, line: 1, offset: 0, end: 12, terminated: true },
      { kind: "record", value: { b: 2 }, line: 4, offset: 16, end: 24, terminated: true },
      { kind: "record", value: 3, line: 5, offset: 24, end: 26, terminated: true },
    ]);
  });

  it("counts from where the reader was told to start", () => {
    expect(ofText('{"a":1}\n', { offset: 1000, line: 8 })).toEqual([
      { kind: "record", value: { a: 1 }, line: 8, offset: 1000, end: 1008, terminated: true },
    ]);
  });

  it("may follow a byte order mark at the start of the file, nowhere else", () => {
    expect(ofText('\ufeff{"a":1}\n')).toMatchObject([{ kind: "record", offset: 3, end: 11 }]);
    expect(ofText('\ufeff{"a":1}{"b":2}\n')).toMatchObject([
      { offset: 3, end: 10, glued: 0 },
      { offset: 10, end: 18, glued: 1 },
    ]);
    expect(ofText('\ufeff{"a":1}\n', { offset: 5 })).toMatchObject([
      { kind: "bad_line", reason: "not_json" },
    ]);
    expect(ofText("\ufeff")).toEqual([]);
  });

  it("is split where whole objects are glued, braces in strings notwithstanding", () => {
    expect(ofText('{"a":"}{\\"}\u00e9{"} {"b":{"c":[{}]}}{}\n')).toEqual([
      {
        kind: "record",
        value: { a: '}{"}\u00e9{' },
        line: 1,
        offset: 0,
        end: 16,
        terminated: true,
        glued: 0,
      },
      { kind: "record", value: { b: { c: [{}] } }, line: 1, offset: 16, end: 33, terminated: true, glued: 1 },
      { kind: "record", value: {}, line: 1, offset: 33, end: 36, terminated: true, glued: 2 },
    ]);
  });

  it.each([
    '{"a":1}{"b":',
    '{"a":1}x{"b":2}',
    '{"a":1}[]',
    '{"a":1}[{}]',
    '{"a":1}{"b":1,"b":2}',
    "{}}{",
    "1 2",
  ])("is kept whole where not all of it is objects: %s", (text) => {
    expect(ofText(`${text}\n`)).toMatchObject([
      { kind: "bad_line", reason: "not_json", raw: Buffer.from(text) },
    ]);
  });

  it("says what is wrong with it", () => {
    const bytes = Buffer.concat([
      Buffer.from('{"a":1,"a":2}\n{"a" 1}\r\n{"a":"'),
      Buffer.from([0xff]),
      Buffer.from('"}\n'),
    ]);
    expect(split(bytes)).toEqual([
      {
        kind: "bad_line",
        reason: "duplicate_keys",
        message: "duplicate keys /a",
        line: 1,
        offset: 0,
        end: 14,
        raw: bytes.subarray(0, 13),
        terminated: true,
      },
      {
        kind: "bad_line",
        reason: "not_json",
        message: "a colon is expected at character 5 of the line",
        line: 2,
        offset: 14,
        end: 23,
        raw: bytes.subarray(14, 22),
        terminated: true,
      },
      {
        kind: "bad_line",
        reason: "invalid_utf8",
        message: "byte 29 of the file is not UTF-8",
        line: 3,
        offset: 23,
        end: 33,
        raw: bytes.subarray(23, 32),
        terminated: true,
      },
    ]);
  });

  it("that is too long is passed over with its range, in chunks of any size, and the next one is read", () => {
    const text = `{"a":1}\n"${"x".repeat(50)}"\n{"b":2}\n`;
    const expected = [
      { kind: "record", value: { a: 1 } },
      { kind: "bad_line", reason: "too_long", line: 2, offset: 8, end: 61 },
      { kind: "record", value: { b: 2 }, line: 3, offset: 61 },
    ];
    const bytes = Buffer.from(text);
    expect(split(bytes, { maxLineBytes: 51 })).toMatchObject(expected);
    expect(split(bytes, { maxLineBytes: 51 }, [...bytes.keys()])).toMatchObject(expected);
    expect(valuesOf(split(bytes, { maxLineBytes: 52 }))).toHaveLength(3);
    expect(split(bytes.subarray(8, 60), { maxLineBytes: 51 })).toEqual([
      { kind: "tail", line: 1, offset: 0, end: 52, terminated: false },
    ]);
  });

  it("of 40 MB is a record like any other", () => {
    const text = "x".repeat(40_000_000);
    const [item] = ofText(`{"a":"${text}"}\n`);
    expect(item?.kind === "record" && equalJson(item.value, { a: text })).toBe(true);
  });
});

describe("the end of the file", () => {
  it.each(['{"a":1}', '{"a":1}{"b":2}', '{"a":1}\r', ' {"a":1} '])(
    "makes whole objects data without a newline: %j",
    (text) => {
      const items = ofText(text);
      expect(items.length).toBeGreaterThan(0);
      for (const item of items) expect(item).toMatchObject({ kind: "record", terminated: false });
    },
  );

  it.each(["1", "[]", '"a"', "nul", '{"a":1', '{"a":1,"a":2}', '{"a":1}{', '{"a":1}x'])(
    "leaves any other unterminated line for later: %j",
    (text) => {
      expect(ofText(`{}\n${text}`)).toMatchObject([
        { kind: "record", terminated: true },
        { kind: "tail", line: 2, offset: 3, end: 3 + text.length },
      ]);
    },
  );

  it("inside a multi-byte character is a tail", () => {
    expect(split(Buffer.from('{"a":"\u00e9').subarray(0, 7))).toEqual([
      { kind: "tail", line: 1, offset: 0, end: 7, terminated: false },
    ]);
  });
});

describe("reading a file", () => {
  it("gives the same items as its bytes, for any chunk size", async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(file, fc.integer({ min: 1, max: 64 }), async ({ bytes }, chunkBytes) => {
        const path = join(folder, `any-${run++}.jsonl`);
        writeFileSync(path, bytes);
        expect(await collect(path, { chunkBytes })).toEqual(split(bytes));
      }),
      { numRuns: 50 },
    );
  });

  it("goes on from an offset, and leaves a source that it was given open", async () => {
    const path = join(folder, "offset.jsonl");
    writeFileSync(path, '{"a":1}\n{"b":2}\n');
    using source = SourceFile.open(path);
    expect(await collect(source, { offset: 8, line: 2 })).toMatchObject([
      { value: { b: 2 }, line: 2, offset: 8, end: 16 },
    ]);
    expect(await collect(source, { offset: 99 })).toEqual([]);
    expect(source.size).toBe(16);
  });

  it("ends early and quietly when the source shrinks, and sees what was appended meanwhile", async () => {
    const path = join(folder, "changing.jsonl");
    const lineOf = (at: number): string => `{"a":${at}}\n`;
    writeFileSync(path, Array.from({ length: 8 }, (_, at) => lineOf(at)).join(""));
    const grown = readJsonl(path, { chunkBytes: 1000 });
    await grown.next();
    appendFileSync(path, lineOf(8));
    const more: JsonlItem[] = [];
    for await (const items of grown) more.push(...items);
    expect(more).toMatchObject([{ value: { a: 8 }, line: 9, offset: 64 }]);

    const shrunk = readJsonl(path, { chunkBytes: 16 });
    await shrunk.next();
    truncateSync(path, 3);
    const rest: JsonlItem[] = [];
    for await (const items of shrunk) rest.push(...items);
    expect(valuesOf(rest).length).toBeLessThan(7);
  });

  it("stops at the signal", async () => {
    const path = join(folder, "abort.jsonl");
    writeFileSync(path, '{"a":1}\n'.repeat(100));
    const controller = new AbortController();
    const aborted = readJsonl(path, { chunkBytes: 16, signal: controller.signal });
    await aborted.next();
    controller.abort(new Error("enough"));
    await expect(aborted.next()).rejects.toThrow("enough");
    for await (const items of readJsonl(path, { chunkBytes: 16 })) {
      expect(items).toHaveLength(2);
      break;
    }
    await expect(collect(join(folder, "absent.jsonl"))).rejects.toThrow("ENOENT");
  });
});

async function collect(
  source: Parameters<typeof readJsonl>[0],
  options?: ReadJsonlOptions,
): Promise<JsonlItem[]> {
  const all: JsonlItem[] = [];
  for await (const items of readJsonl(source, options)) all.push(...items);
  return all;
}
