/**
 * The text of a file that people made with a tool of their own, such as a shell: with a byte order mark or without, in
 * UTF-8 or UTF-16. How it is encoded is not data; bytes that are no text in it are.
 */
import { Buffer } from "node:buffer";
import { decodeUtf8 } from "../../../base/json/json.ts";

export type DecodedText =
  | { readonly ok: true; readonly text: string }
  /** `lossy` is for looking only: what is no text is replaced in it. */
  | { readonly ok: false; readonly message: string; readonly lossy: string };

const OPEN_OBJECT = 0x7b;

export function decodeText(bytes: Uint8Array): DecodedText {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const form = formOf(whole);
  if (form.encoding !== "utf8") return decodeUtf16(whole.subarray(form.mark), form.encoding);
  const body = whole.subarray(form.mark);
  const decoded = decodeUtf8(body);
  if (decoded.ok) return decoded;
  const message = `byte ${form.mark + decoded.offset} is not UTF-8`;
  return { ok: false, message, lossy: body.toString("utf8") };
}

interface Form {
  readonly encoding: "utf8" | "utf16le" | "utf16be";
  /** Bytes of the byte order mark. */
  readonly mark: number;
}

/** By its mark, else by how an object begins in it. */
function formOf(bytes: Buffer): Form {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return { encoding: "utf8", mark: 3 };
  if (first === 0xff && second === 0xfe) return { encoding: "utf16le", mark: 2 };
  if (first === 0xfe && second === 0xff) return { encoding: "utf16be", mark: 2 };
  if (first === OPEN_OBJECT && second === 0) return { encoding: "utf16le", mark: 0 };
  if (first === 0 && second === OPEN_OBJECT) return { encoding: "utf16be", mark: 0 };
  return { encoding: "utf8", mark: 0 };
}

function decodeUtf16(bytes: Buffer, encoding: "utf16le" | "utf16be"): DecodedText {
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2));
  const text = (encoding === "utf16le" ? even : Buffer.from(even).swap16()).toString("utf16le");
  if (even.length === bytes.length) return { ok: true, text };
  return { ok: false, message: "its last byte is half a character of UTF-16", lossy: text };
}
