/**
 * Ids as opencode makes them: a prefix, 48 bits of time in hex, 14 characters of base 62. Here the characters come from
 * a hash, so that the same session always gets the same ids. Sessions count backwards, messages and parts forwards.
 */
import { valueHash } from "../../kit/files/index.ts";

const CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH = 14;

export function sessionIdFor(id: string, created: number): string {
  return `ses_${timeOf(~(BigInt(created) * 0x1000n))}${lettersOf(`session\n${id}`)}`;
}

/** Ids of one session that sort in the order in which they were made. */
export class IdSequence {
  readonly #session: string;
  #count = 0;

  constructor(session: string) {
    this.#session = session;
  }

  next(prefix: "msg" | "prt", at: number): string {
    this.#count += 1;
    const time = timeOf(BigInt(at) * 0x1000n + BigInt(this.#count));
    return `${prefix}_${time}${lettersOf(`${this.#session}\n${this.#count}`)}`;
  }
}

function timeOf(value: bigint): string {
  return BigInt.asUintN(48, value).toString(16).padStart(12, "0");
}

function lettersOf(name: string): string {
  let rest = BigInt(`0x${valueHash(`opencode\n${name}`)}`);
  let letters = "";
  while (letters.length < LENGTH) {
    letters += CHARACTERS[Number(rest % 62n)] ?? "0";
    rest /= 62n;
  }
  return letters;
}
