/** What reading operations need before they can answer: a store that is there, and requests within their bounds. */
import { PondError } from "../base/errors.ts";
import type { SessionStore } from "../sessions/index.ts";
import { displayUrl } from "../sessions/peek.ts";
import type { Context } from "./context.ts";
import { GONE_FIX, goneMessage, isGone } from "./remembered.ts";

/** The store; reading makes none. */
export async function requireStore(context: Context): Promise<SessionStore> {
  const store = await context.existingStore();
  if (store !== undefined) return store;
  if (await isGone(context)) throw new PondError("not_found", goneMessage(context), { hint: GONE_FIX });
  throw new PondError("not_found", `there is no store at ${displayUrl(context.address.url)} yet`, {
    hint: "pond sync makes it with the first session it finds; pond adapters tells where it looks",
  });
}

/** The number asked for, or the default. */
export function checkLimit(
  field: string,
  value: number | undefined,
  bounds: { readonly default: number; readonly most: number; readonly least?: number },
): number {
  const least = bounds.least ?? 1;
  const number = value ?? bounds.default;
  if (Number.isSafeInteger(number) && number >= least && number <= bounds.most) return number;
  throw new PondError("validation_failed", `${field.replaceAll("_", " ")} ${number} is out of bounds`, {
    reason: "limit",
    hint: `give ${least} to ${bounds.most}`,
    data: { field, value: number, least, most: bounds.most },
  });
}
