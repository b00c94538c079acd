/**
 * Which sessions have to be looked through for a text or a pattern (spec.md#search-signatures): those whose signatures do not
 * exclude it, and those that no signature reaches.
 */
import type { MayHold, Needles, SessionStore } from "../../sessions/index.ts";
import { literalRuns } from "./literal-runs.ts";
import type { ScanRequest } from "./literal-scan.ts";
import { spellingsOf } from "./literal-scan.ts";

export interface Candidates {
  readonly inMessages: MayHold;
  readonly inParts: MayHold;
}

export async function candidatesFor(
  store: SessionStore,
  request: Pick<ScanRequest, "text" | "kind" | "searchedIn">,
): Promise<Candidates> {
  const { messages, parts } = needlesOf(request);
  const [inMessages, inParts] = await Promise.all([
    request.searchedIn === "tools" ? never : store.mayHold("messages", messages),
    request.searchedIn === "text" ? never : store.mayHold("parts", parts),
  ]);
  return { inMessages: inMessages ?? always, inParts: inParts ?? always };
}

const never = (): boolean => false;
const always = (): boolean => true;

/** What a text must contain to match; nothing where that cannot be told. */
function needlesOf({ text, kind }: Pick<ScanRequest, "text" | "kind">): {
  readonly messages: Needles;
  readonly parts: Needles;
} {
  if (kind === "regex") {
    const runs = (literalRuns(text) ?? []).map((pieces) => pieces.map(inUtf8));
    return { messages: runs, parts: runs };
  }
  const [plain, escaped] = spellingsOf(text);
  return { messages: [[inUtf8(plain)]], parts: [[inUtf8(plain)], [inUtf8(escaped)]] };
}

/** As the engine gets it: a lone surrogate is U+FFFD. */
const inUtf8 = (text: string): Uint8Array => Buffer.from(text.toWellFormed());
