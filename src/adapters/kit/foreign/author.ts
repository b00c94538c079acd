/** Which model wrote a message of any client, and what that used, where the session says so (spec.md#adapter-restore). */
import { isJsonObject } from "../../../base/json/json.ts";
import type { Message } from "../../../model/index.ts";
import { isOwnSpace } from "../../../model/derived/index.ts";
import { extractName, integerField, objectField } from "../extract/extract.ts";

export interface Author {
  readonly provider: string;
  readonly model: string;
}

/** A provider's options name the model under the provider's name; a record may name both itself. */
export function authorOf({ options }: Pick<Message, "options">): Author | undefined {
  for (const [provider, space] of Object.entries(options)) {
    if (isOwnSpace(provider) || !isJsonObject(space)) continue;
    const model = extractName(space, "model");
    if (model !== undefined) return { provider, model };
  }
  const record = objectField(objectField(options, "source") ?? {}, "record") ?? {};
  const message = objectField(record, "message") ?? {};
  const provider = extractName(message, "provider");
  const model = extractName(message, "model");
  return provider === undefined || model === undefined ? undefined : { provider, model };
}

/** Tokens; 0 where nothing is recorded. */
export function usageOf({ options }: Pick<Message, "options">): {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
} {
  const usage = objectField(objectField(options, "anthropic") ?? {}, "usage") ?? {};
  const count = (name: string): number => integerField(usage, name) ?? 0;
  return {
    input: count("input_tokens"),
    output: count("output_tokens"),
    cacheRead: count("cache_read_input_tokens"),
    cacheWrite: count("cache_creation_input_tokens"),
  };
}
