/** Whether a model can be sent what a restore hands over (spec.md#adapter-restore-tokens): its tokens against usual windows. */
import type { Adapter } from "../../adapters/index.ts";
import { optional } from "../../base/optional.ts";
import type { ContextRule } from "../../adapters/restore.ts";
import { tokensOf } from "../../adapters/restore.ts";
import type { SessionState } from "../../model/events/index.ts";
import type { RestoreTokens } from "../../wire/restore.ts";

/** Of most models that these clients are used with, and of those for long work. */
const USUAL_WINDOWS = [200_000, 1_000_000] as const;

/** What a client adds by itself, its prompt and its tools: 10,000 to 38,000 where it was measured. */
const CLIENT_TOKENS = 25_000;

export interface Sizing {
  readonly context: ContextRule | undefined;
  readonly fidelity: "native" | "foreign";
  readonly origin: Adapter | undefined;
}

export function restoreTokens(state: SessionState, { context, fidelity, origin }: Sizing): RestoreTokens {
  const tokens = tokensOf(state, { context, fidelity });
  // What was recorded holds for the same client. Another one is not sent the reasoning, which may be half of it.
  const estimated = tokens.estimated + CLIENT_TOKENS;
  const needed = fidelity === "native" ? (tokens.recorded ?? estimated) : estimated;
  return {
    ...tokens,
    windows: USUAL_WINDOWS.map((window) => ({ tokens: window, is_exceeded: needed > window })),
    ...optional("origin", origin?.title),
  };
}
