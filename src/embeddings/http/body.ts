/** The body of an answer as text, and not more of it than was asked for. */

/** Undefined where it is longer than `limit` bytes: the rest is not read. */
export async function readBody(response: Response, limit: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the connection.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
