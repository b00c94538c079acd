/** What of one request is missing in another, and what is there that was not: texts in order, calls and results by id, images by hash. */
import { isFrame, isOwn, isStandIn, unframed } from "./frames.ts";
import type { Sent } from "./requests.ts";

type Of<K extends Sent["kind"]> = Extract<Sent, { kind: K }>;

export interface Difference {
  /** Of a text the lines that are missing. */
  readonly missing: readonly Sent[];
  /** In the second request only. */
  readonly added: readonly Sent[];
  /** Results that are there without being marked as failures. */
  readonly failures: readonly Of<"result">[];
  /** What is there, but before something that it followed. */
  readonly misplaced: readonly Sent[];
}

/** Without what each client writes anew for its own model. */
export function compareRequests(one: readonly Sent[], other: readonly Sent[]): Difference {
  const [first, second] = withSameIds(one.filter(isHistory), other.filter(isHistory));
  const places = placesIn(first, second);
  const failures = first.filter(
    (sent): sent is Of<"result"> =>
      sent.kind === "result" &&
      sent.failed &&
      !isStandIn(sent.text) &&
      resultIn(second, sent.id)?.failed === false,
  );
  return {
    missing: onlyIn(first, second, places),
    added: onlyIn(second, first, placesIn(second, first)),
    failures,
    misplaced: misplacedIn(first, places),
  };
}

const isHistory = (sent: Sent): boolean => sent.kind !== "text" || !isOwn(sent);

function onlyIn(
  first: readonly Sent[],
  second: readonly Sent[],
  places: ReadonlyMap<Sent, number>,
): readonly Sent[] {
  const all = plain(second.map((sent) => ("text" in sent ? sent.text : "")).join("\n"));
  return first.flatMap((sent): readonly Sent[] => {
    if (places.has(sent)) return [];
    if (sent.kind !== "text") return [sent];
    const lines = sent.text
      .split("\n")
      .filter((line) => !isFrame(line) && !all.includes(plain(unframed(line))));
    return lines.length === 0 ? [] : [{ ...sent, text: lines.join("\n") }];
  });
}

/** Where each is in the other request; clients cut texts into other pieces, so a text is found inside any. */
function placesIn(first: readonly Sent[], second: readonly Sent[]): ReadonlyMap<Sent, number> {
  const places = new Map<Sent, number>();
  const used = new Set<number>();
  const texts = second.map((sent) => (sent.kind === "text" ? plain(sent.text) : undefined));
  let from = 0;
  for (const sent of first) {
    const isSame = (candidate: Sent, at: number): boolean => !used.has(at) && isEqual(sent, candidate);
    const at = sent.kind === "text" ? placeOfText(plain(sent.text), texts, from) : second.findIndex(isSame);
    if (at === -1) continue;
    if (sent.kind === "text") from = Math.max(from, at);
    else used.add(at);
    places.set(sent, at);
  }
  return places;
}

function placeOfText(text: string, texts: readonly (string | undefined)[], from: number): number {
  if (text === "") return from;
  const behind = texts.findIndex((candidate, at) => at >= from && candidate?.includes(text) === true);
  return behind !== -1 ? behind : texts.findIndex((candidate) => candidate?.includes(text) === true);
}

function isEqual(one: Sent, other: Sent): boolean {
  if (one.kind === "call")
    return (
      other.kind === "call" && one.id === other.id && one.name === other.name && one.input === other.input
    );
  if (one.kind === "result")
    return other.kind === "result" && one.id === other.id && isSameResult(one.text, other.text);
  if (one.kind === "image") return other.kind === "image" && one.hash === other.hash;
  if (one.kind !== "reasoning" || other.kind !== "reasoning") return false;
  return one.text === other.text && one.seal === other.seal;
}

/** What a client says in the place of a result that there is not, or of a picture that follows, is its own. */
function isSameResult(one: string, other: string): boolean {
  return plain(one) === plain(other) || (isStandIn(one) && isStandIn(other));
}

/** Results follow their calls in an order of each client's own: texts and calls say whether the order is kept. */
function misplacedIn(first: readonly Sent[], places: ReadonlyMap<Sent, number>): readonly Sent[] {
  let last = -1;
  return first.filter((sent) => {
    const at = places.get(sent);
    if (at === undefined || (sent.kind !== "text" && sent.kind !== "call")) return false;
    if (sent.kind === "text" && sent.isJoined === true) return false;
    if (at < last) return true;
    last = at;
    return false;
  });
}

function resultIn(sent: readonly Sent[], id: string): Of<"result"> | undefined {
  return sent.find((one): one is Of<"result"> => one.kind === "result" && one.id === id);
}

/** Some clients give calls new ids in every request: then their order names them. */
function withSameIds(
  first: readonly Sent[],
  second: readonly Sent[],
): readonly [readonly Sent[], readonly Sent[]] {
  const known = new Set(second.flatMap((sent) => (sent.kind === "call" ? [sent.id] : [])));
  const isShared = first.some((sent) => sent.kind === "call" && known.has(sent.id));
  return isShared ? [first, second] : [numbered(first), numbered(second)];
}

function numbered(all: readonly Sent[]): readonly Sent[] {
  const calls = all.flatMap((sent) => (sent.kind === "call" ? [sent.id] : []));
  return all.map((sent) =>
    sent.kind === "call" || sent.kind === "result" ? { ...sent, id: `#${calls.indexOf(sent.id)}` } : sent,
  );
}

/** Blanks are each client's own at the ends and between pieces; paths of Windows may be written as JSON. */
const plain = (text: string): string => text.replaceAll(/\s+/g, "").replaceAll("\\\\", "\\");
