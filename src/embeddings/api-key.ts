/** The key of a service, from the settings or from a file, checked before it is put into a header. */
import { readFile } from "node:fs/promises";
import { errnoOf, PondError } from "../base/errors.ts";
import type { EmbeddingSettings } from "./settings.ts";

/** Undefined where the settings give none. No message has the key in it. */
export async function apiKey({
  api_key: key,
  api_key_file: file,
}: EmbeddingSettings): Promise<string | undefined> {
  const text = key ?? (file === undefined ? undefined : await readKey(file));
  if (text === undefined) return undefined;
  const trimmed = text.trim();
  // What a header cannot have is quoted by the error of whoever builds the header.
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  throw new PondError(
    "validation_failed",
    `${key === undefined ? file : "embeddings.api_key"} has ${trimmed === "" ? "no key in it" : "characters that a key cannot have"}`,
    { hint: "a key is one word of letters, digits and signs, with nothing beside it" },
  );
}

async function readKey(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new PondError(
      "validation_failed",
      `embeddings.api_key_file names ${file}, which cannot be read (${errnoOf(error) ?? "unknown"})`,
      { hint: "name a file that has the key and nothing else", cause: error },
    );
  }
}
