/**
 * Reads what a version of a local table stands on, from its manifest (spec.md#lance-chokepoints-storage): the engine tells neither
 * files nor their sizes. Strict: a manifest that is not understood to its last byte is no reason to call a file unneeded.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { PondError } from "../../base/errors.ts";
import { sentence } from "../../base/sentence.ts";
import { ignoreMissing } from "./files.ts";

export interface Manifest {
  readonly version: number;
  /** The commit that made it: random, so that two versions of one number are told apart. */
  readonly transaction: string;
  readonly fragments: readonly Fragment[];
  readonly indexes: readonly ManifestIndex[];
}

export interface Fragment {
  readonly id: number;
  readonly rows: number;
  /** Below the table's folder; each may have a folder of the same name beside it, without `.lance`, for large values. */
  readonly files: readonly DataFile[];
  readonly deletions: string | undefined;
}

export interface DataFile {
  readonly path: string;
  /** Undefined where the manifest does not say. */
  readonly bytes: number | undefined;
}

export interface ManifestIndex {
  readonly name: string;
  /** The folder that holds it, below the table's own. */
  readonly folder: string;
}

export const VERSIONS = "_versions";
const MAGIC = "LANC";
/** The manifest's position (8 bytes), format version (4), magic (4). */
const FOOTER_BYTES = 16;
const NEWEST = 2n ** 64n - 1n;

/** Names of the manifests of a table, the newest first: they count down from 2^64. */
export async function manifestNames(directory: string): Promise<string[]> {
  const names = (await readdir(join(directory, VERSIONS)).catch(ignoreMissing)) ?? [];
  return names.filter((name) => /^\d{20}\.manifest$/.test(name)).toSorted();
}

export const versionOfName = (name: string): number => Number(NEWEST - BigInt(name.slice(0, 20)));
export const nameOfVersion = (version: number): string =>
  `${String(NEWEST - BigInt(version)).padStart(20, "0")}.manifest`;

/** Undefined where it was cleaned away meanwhile. Throws where it cannot be understood. */
export async function readManifest(directory: string, name: string): Promise<Manifest | undefined> {
  const path = join(directory, VERSIONS, name);
  const bytes = await readFile(path).catch(ignoreMissing);
  if (bytes === undefined) return undefined;
  try {
    return parseManifest(bytes);
  } catch (cause) {
    throw new PondError("storage_unavailable", `${path} cannot be read as a manifest`, {
      reason: "corrupt",
      hint: sentence`run ${{ do: "repair" }}`,
      cause,
    });
  }
}

export function parseManifest(bytes: Buffer): Manifest {
  const footer = bytes.length - FOOTER_BYTES;
  if (footer < 0 || bytes.toString("latin1", bytes.length - 4) !== MAGIC)
    throw new Error("it has no end of a manifest");
  const content = messageAt(bytes, Number(bytes.readBigUInt64LE(footer)));
  const fragments: Fragment[] = [];
  let version = 0;
  let transaction = "";
  let indexesAt: number | undefined;
  for (const { field, value } of fieldsOf(content)) {
    if (field === 2) fragments.push(fragmentOf(bytesOf(value)));
    else if (field === 3) version = numberOf(value);
    else if (field === 6) indexesAt = numberOf(value);
    else if (field === 12) transaction = bytesOf(value).toString("utf8");
  }
  if (version === 0) throw new Error("it names no version");
  const indexes = indexesAt === undefined ? [] : indexesOf(messageAt(bytes, indexesAt));
  return { version, transaction, fragments, indexes };
}

/** A message stands behind its length. */
function messageAt(bytes: Buffer, position: number): Buffer {
  if (position < 0 || position + 4 > bytes.length) throw new Error("it points outside of itself");
  const end = position + 4 + bytes.readUInt32LE(position);
  if (end > bytes.length) throw new Error("a part of it is missing");
  return bytes.subarray(position + 4, end);
}

function fragmentOf(bytes: Buffer): Fragment {
  const files: DataFile[] = [];
  let [id, rows] = [0, 0];
  let deletions: { readonly read: number; readonly id: string; readonly isBitmap: boolean } | undefined;
  for (const { field, value } of fieldsOf(bytes)) {
    if (field === 1) id = numberOf(value);
    else if (field === 2) files.push(dataFileOf(bytesOf(value)));
    else if (field === 3) deletions = deletionsOf(bytesOf(value));
    else if (field === 4) rows = numberOf(value);
  }
  return {
    id,
    rows,
    files,
    deletions:
      deletions === undefined
        ? undefined
        : `_deletions/${id}-${deletions.read}-${deletions.id}.${deletions.isBitmap ? "bin" : "arrow"}`,
  };
}

function dataFileOf(bytes: Buffer): DataFile {
  let path: string | undefined;
  let size: number | undefined;
  for (const { field, value } of fieldsOf(bytes)) {
    if (field === 1) path = bytesOf(value).toString("utf8");
    else if (field === 6) size = numberOf(value);
    else if (field === 7) throw new Error("a file of it lies elsewhere");
  }
  if (path === undefined || path === "") throw new Error("a file of it has no name");
  return { path: `data/${path}`, bytes: size === 0 ? undefined : size };
}

function deletionsOf(bytes: Buffer): {
  readonly read: number;
  readonly id: string;
  readonly isBitmap: boolean;
} {
  let [read, id, isBitmap] = [0, "0", false];
  for (const { field, value } of fieldsOf(bytes)) {
    if (field === 1) isBitmap = numberOf(value) === 1;
    else if (field === 2) read = numberOf(value);
    else if (field === 3 && typeof value === "bigint") id = String(value);
    else if (field === 7) throw new Error("a file of it lies elsewhere");
  }
  return { read, id, isBitmap };
}

function indexesOf(section: Buffer): ManifestIndex[] {
  return [...fieldsOf(section)]
    .filter(({ field }) => field === 1)
    .map(({ value }) => indexOf(bytesOf(value)));
}

function indexOf(bytes: Buffer): ManifestIndex {
  let [id, name] = ["", ""];
  for (const { field, value } of fieldsOf(bytes)) {
    if (field === 1)
      for (const inner of fieldsOf(bytesOf(value)))
        if (inner.field === 1) id = bytesOf(inner.value).toString("hex");
    if (field === 3) name = bytesOf(value).toString("utf8");
  }
  if (!/^[0-9a-f]{32}$/.test(id)) throw new Error("an index of it has no id");
  const folder = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "_indices/$1-$2-$3-$4-$5");
  return { name, folder };
}

type FieldValue = bigint | Buffer;

/** The fields of a protobuf message. Throws where it is none. */
function* fieldsOf(bytes: Buffer): Generator<{ readonly field: number; readonly value: FieldValue }> {
  let at = 0;
  const varint = (): bigint => {
    for (let [result, shift] = [0n, 0n]; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error("it ends inside a number");
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
    throw new Error("a number of it has no end");
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error("it ends inside a value");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const field = tag >> 3;
    if (field === 0) throw new Error("a field of it has no number");
    switch (tag & 7) {
      case 0:
        yield { field, value: varint() };
        break;
      case 1:
        yield { field, value: take(8).readBigUInt64LE() };
        break;
      case 2:
        yield { field, value: take(Number(varint())) };
        break;
      case 5:
        yield { field, value: BigInt(take(4).readUInt32LE()) };
        break;
      default:
        throw new Error("a field of it has no kind");
    }
  }
}

function numberOf(value: FieldValue): number {
  if (typeof value !== "bigint") throw new Error("a number in it is not a number");
  return Number(value);
}

function bytesOf(value: FieldValue): Buffer {
  if (typeof value === "bigint") throw new Error("a text in it is not text");
  return value;
}
