/** Messages as calls of an embedder: each text once, those of like length together. Pure. */
import type { Embedder } from "../../embeddings/index.ts";
import type { Unembedded } from "../../sessions/vectors/index.ts";

/** A text and the messages that have it. */
export interface TextOf {
  readonly text: string;
  readonly messages: readonly Unembedded[];
}

export function textsOf(messages: readonly Unembedded[]): readonly TextOf[] {
  return [...Map.groupBy(messages, ({ text }) => text)].map(([text, own]) => ({ text, messages: own }));
}

/** A model takes as long for each text of a call as for its longest one. Of a text that is too long alone, a call of its own. */
export function* batchesOf(texts: readonly TextOf[], most: Embedder["batch"]): Generator<readonly TextOf[]> {
  let batch: TextOf[] = [];
  let characters = 0;
  for (const each of texts.toSorted((a, b) => a.text.length - b.text.length)) {
    const isFull = batch.length >= most.texts || characters + each.text.length > most.characters;
    if (isFull && batch.length > 0) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push(each);
    characters += each.text.length;
  }
  if (batch.length > 0) yield batch;
}
