/**
 * A file compressed as zstd, to its end (spec.md#adapter-integrity-no-silent-drops): all its frames, without those that
 * are to be skipped. What Node decodes stops silently behind the first frame. Frames are cut into their blocks here, so
 * that all before a fault comes out, and the fault is located.
 */
import type { ZstdDecompress } from "node:zlib";
import { createZstdDecompress } from "node:zlib";
import type { SourceFile } from "./source-file.ts";

/** Where the file cannot be read on: what stands there and behind is not known. */
export interface ZstdFault {
  /** Bytes from the start of the compressed file. */
  readonly offset: number;
  readonly message: string;
}

const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const MAGIC_BYTES = 4;
const SKIPPABLE_HEAD_BYTES = 8;

/** Of a frame: magic, descriptor, window, dictionary and content size, where all are there. */
const MAX_HEAD_BYTES = MAGIC_BYTES + 1 + 1 + 4 + 8;
const DICTIONARY_BYTES = [0, 1, 2, 4] as const;
const CHECKSUM_BYTES = 4;

const BLOCK_HEAD_BYTES = 3;
const REPEATED_BYTE = 1;
const RESERVED_BLOCK = 3;

/** The plain bytes in pieces; returns where and why they end before the file does. */
export async function* readZstd(file: SourceFile): AsyncGenerator<Uint8Array, ZstdFault | undefined> {
  const { size } = file;
  await using decoder = new Decoder();
  let offset = 0;
  try {
    if (size === 0) throw new Damage(0, "the file is empty");
    while (offset < size) {
      const skipped = skippableBytes(file, offset);
      if (skipped === undefined) offset = yield* readFrame(file, offset, decoder);
      else if (offset + skipped > size)
        throw new Damage(offset, "the file ends inside a frame to be skipped");
      else offset += skipped;
    }
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return { offset: error.offset, message: error.message };
    throw error;
  }
}

/** All of it at once, where nothing is wrong with it. */
export async function readWholeZstd(file: SourceFile): Promise<Uint8Array | ZstdFault> {
  const pieces: Uint8Array[] = [];
  const reading = readZstd(file);
  for (;;) {
    const next = await reading.next();
    if (next.done !== true) pieces.push(next.value);
    else return next.value ?? Buffer.concat(pieces);
  }
}

class Damage extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** One frame, block by block; returns where the next one starts. */
async function* readFrame(
  file: SourceFile,
  start: number,
  decoder: Decoder,
): AsyncGenerator<Uint8Array, number> {
  const { bytes: headBytes, hasChecksum } = frameHead(file, start);
  let offset = start;
  const decode = (length: number): Promise<readonly Uint8Array[]> => {
    const from = offset;
    offset += length;
    return decoder.decode(bytesAt(file, from, length), from);
  };
  yield* await decode(headBytes);
  for (let isLast = false; !isLast;) {
    const head = bytesAt(file, offset, BLOCK_HEAD_BYTES).readUIntLE(0, BLOCK_HEAD_BYTES);
    isLast = (head & 1) === 1;
    const type = (head >> 1) & 3;
    if (type === RESERVED_BLOCK) throw new Damage(offset, "a block of a kind that does not exist");
    yield* await decode(BLOCK_HEAD_BYTES + (type === REPEATED_BYTE ? 1 : head >> 3));
  }
  // Apart from the last block, so that a wrong checksum takes nothing with it.
  if (hasChecksum) yield* await decode(CHECKSUM_BYTES);
  return offset;
}

function frameHead(
  file: SourceFile,
  offset: number,
): { readonly bytes: number; readonly hasChecksum: boolean } {
  const head = Buffer.alloc(MAX_HEAD_BYTES);
  const found = file.read(head, offset);
  if (found >= MAGIC_BYTES && head.readUInt32LE(0) !== FRAME_MAGIC)
    throw new Damage(offset, "this is not zstd-compressed data");
  if (found <= MAGIC_BYTES) throw new Damage(offset, "the file ends inside a frame");
  const descriptor = head.readUInt8(MAGIC_BYTES);
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingle) : 1 << sizeFlag;
  const dictionaryBytes = DICTIONARY_BYTES[descriptor & 3] ?? 0;
  const bytes = MAGIC_BYTES + 1 + Number(!isSingle) + dictionaryBytes + sizeBytes;
  return { bytes, hasChecksum: (descriptor & 4) !== 0 };
}

/** The length of a frame that holds nothing of the file; undefined for any other. */
function skippableBytes(file: SourceFile, offset: number): number | undefined {
  const head = Buffer.alloc(SKIPPABLE_HEAD_BYTES);
  if (file.read(head, offset) < SKIPPABLE_HEAD_BYTES) return undefined;
  if ((head.readUInt32LE(0) & 0xfffffff0) >>> 0 !== SKIPPABLE_MAGIC) return undefined;
  return SKIPPABLE_HEAD_BYTES + head.readUInt32LE(MAGIC_BYTES);
}

function bytesAt(file: SourceFile, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  if (file.read(bytes, offset) < length) throw new Damage(offset, "the file ends inside a frame");
  return bytes;
}

/** Node's decoder, fed piece by piece: what a piece gives is there before the next one is taken. */
class Decoder implements AsyncDisposable {
  readonly #stream: ZstdDecompress = createZstdDecompress();
  #plain: Uint8Array[] = [];
  #failure: Error | undefined;

  constructor() {
    this.#stream.on("data", (chunk: Uint8Array) => this.#plain.push(chunk));
    // Told to whoever writes; without a listener it would end the process.
    this.#stream.on("error", (error) => (this.#failure = error));
  }

  async decode(bytes: Buffer, offset: number): Promise<readonly Uint8Array[]> {
    await new Promise<void>((resolve) => {
      this.#stream.once("close", resolve);
      this.#stream.write(bytes, () => {
        this.#stream.off("close", resolve);
        resolve();
      });
    });
    if (this.#failure !== undefined) throw new Damage(offset, this.#failure.message);
    const plain = this.#plain;
    this.#plain = [];
    return plain;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#stream.destroy();
    return Promise.resolve();
  }
}
