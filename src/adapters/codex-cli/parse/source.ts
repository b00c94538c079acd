/**
 * The lines of a rollout in any of its forms: JSON lines, compressed ones, or a document of the TypeScript era.
 * Offsets count the bytes of the plain form, so that a cursor survives the client's compression of old rollouts
 * (spec.md#sync-change-detection).
 */
import { PondError } from "../../../base/errors.ts";
import type { JsonValue } from "../../../base/json/json.ts";
import { decodeUtf8, isJsonObject, tryParseJson } from "../../../base/json/json.ts";
import type { FileCursor } from "../../kit/sources/index.ts";
import type { FileStamp, ZstdFault } from "../../kit/files/index.ts";
import type { JsonlItem } from "../../kit/log/index.ts";
import type { LineStart } from "../../kit/session/index.ts";
import { arrayField, without } from "../../kit/extract/index.ts";
import { hashedFrom, TailHash } from "../../kit/files/index.ts";
import { resumeOffset } from "../../kit/sources/index.ts";
import { isSettled, readZstd, SourceFile } from "../../kit/files/index.ts";
import { JsonlSplitter, readJsonl } from "../../kit/log/index.ts";
import { isCompressed, isDocument } from "../layout.ts";

export type ItemBatches = AsyncGenerator<readonly JsonlItem[], void>;

const ITEMS: ReadonlySet<string> = new Set(["items"]);

export class Source implements Disposable {
  readonly #file: SourceFile;
  readonly #isCompressed: boolean;
  readonly #isDocument: boolean;
  readonly #settledSize: number | undefined;
  /** Why a compressed source ends before its file does; known once it was read to there. */
  fault: ZstdFault | undefined;

  private constructor(file: SourceFile, stamp: FileStamp, now: number) {
    const { path } = stamp;
    this.#file = file;
    this.#settledSize = isSettled(stamp, now) ? stamp.size : undefined;
    this.#isCompressed = isCompressed(path);
    this.#isDocument = isDocument(path);
  }

  /** `now` decides whether the source is settled: then its unterminated tail is data. */
  static open(stamp: FileStamp, now: number): Source {
    return new Source(SourceFile.open(stamp.path), stamp, now);
  }

  /** True where a line stands in the file as it is: neither compressed nor part of a document. */
  get isPlain(): boolean {
    return !this.#isCompressed && !this.#isDocument;
  }

  /** The lines from the start, of a plain source also from one of them on; as often as asked for. */
  items(from?: LineStart): ItemBatches {
    if (this.#isDocument) return this.#documentItems();
    return this.#isCompressed
      ? this.#plainItems()
      : readJsonl(this.#file, { ...from, settledSize: this.#settledSize });
  }

  /** Where to go on: the committed offset when the source only grew, 0 when it was rewritten. */
  async resumeFrom(cursor: FileCursor | undefined): Promise<number> {
    if (cursor === undefined || cursor.offset === 0) return 0;
    if (!this.#isCompressed) return resumeOffset(this.#file, cursor);
    return (await this.#streamedTail(cursor.offset)) === cursor.tail ? cursor.offset : 0;
  }

  /** Hash of the plain bytes before the offset. */
  async tail(offset: number): Promise<string> {
    if (offset === 0) return "";
    return this.#isCompressed ? this.#streamedTail(offset) : this.#file.tailHash(offset);
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  async *#plainItems(): ItemBatches {
    const splitter = new JsonlSplitter();
    for await (const chunk of this.#plainBytes()) {
      const items = splitter.push(chunk);
      if (items.length > 0) yield items;
    }
    yield splitter.finish(this.#file.size === this.#settledSize);
  }

  async *#plainBytes(): AsyncGenerator<Uint8Array, void> {
    this.fault = yield* readZstd(this.#file);
  }

  /** No seeking in compressed bytes: those before the offset are hashed in passing. */
  async #streamedTail(offset: number): Promise<string> {
    const from = hashedFrom(offset);
    const hash = new TailHash(from);
    let position = 0;
    for await (const chunk of this.#plainBytes()) {
      const wanted = chunk.subarray(0, offset - position);
      if (position + wanted.length > from) hash.add(wanted.subarray(Math.max(0, from - position)));
      position += wanted.length;
      if (position >= offset) break;
    }
    return position < offset ? "" : hash.text();
  }

  /** A document as the log that it is: its head without the items, then the items. */
  async *#documentItems(): ItemBatches {
    const raw = Buffer.alloc(this.#file.size);
    const bytesRead = this.#file.read(raw, 0);
    const decoded = decodeUtf8(raw.subarray(0, bytesRead));
    const parsed = decoded.ok ? tryParseJson(decoded.text) : undefined;
    const document = parsed?.kind === "value" ? parsed.value : undefined;
    const items = isJsonObject(document) ? arrayField(document, "items") : undefined;
    if (!isJsonObject(document) || items === undefined)
      throw new PondError("validation_failed", "not a JSON document with items");
    // It is rewritten as a whole, so nothing of it is ever committed apart from the rest.
    const recordAt = (value: JsonValue, index: number): JsonlItem => ({
      kind: "record",
      value,
      line: index + 1,
      offset: 0,
      end: bytesRead,
      terminated: false,
    });
    yield [without(document, ITEMS), ...items].map(recordAt);
  }
}
