/** What reading operations need before they can answer: a store that is there, and requests within their bounds. */
import { PondError } from "../../base/errors.ts";
import { sentence } from "../../base/sentence.ts";
import type { SessionStore } from "../../sessions/index.ts";
import { displayUrl } from "../../sessions/peek.ts";
import type { Context } from "./context.ts";
import { GONE_FIX, goneMessage, isGone } from "./remembered.ts";

/** The store; reading makes none. */
export async function requireStore(context: Context): Promise<SessionStore> {
  const store = await context.existingStore();
  if (store !== undefined) return store;
  if (await isGone(context)) throw new PondError("not_found", goneMessage(context), { hint: GONE_FIX });
  const url = displayUrl(context.address.url);
  const named = namedBy(context);
  if (named === undefined)
    throw new PondError("not_found", `there is no store at ${url} yet`, {
      hint: sentence`${{ do: "sync" }} creates it with the first session it finds; ${{ do: "adapters" }} lists the places it reads`,
    });
  // A slip in a name that somebody gave must not end in a second store.
  throw new PondError("not_found", `there is no store at ${url}, the address given by ${named}`, {
    hint: sentence`check the path; if a new store is meant, ${{ do: "sync" }} creates it there`,
  });
}

/** What names the store; undefined where it is in pond's own place. */
function namedBy({ config }: Context): string | undefined {
  const source = config.settings.find(({ field }) => field.key === "storage.url")?.source;
  if (source === undefined || source.kind === "default") return undefined;
  return source.kind === "file" ? `${source.file}:${source.line}` : source.name;
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
