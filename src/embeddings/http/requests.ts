/** Texts in requests that a service takes: as many as fit, in order. Pure. */

export interface Piece {
  /** Place among the texts of the call. */
  readonly at: number;
  readonly text: string;
}

/** A text that is larger than a request is one of its own. */
export function requestsOf(
  pieces: readonly Piece[],
  limit: { readonly texts: number; readonly characters: number },
): readonly (readonly Piece[])[] {
  const requests: Piece[][] = [];
  let room = { texts: 0, characters: 0 };
  for (const piece of pieces) {
    if (room.texts === 0 || room.characters < piece.text.length) {
      requests.push([]);
      room = { ...limit };
    }
    requests.at(-1)?.push(piece);
    room = { texts: room.texts - 1, characters: room.characters - piece.text.length };
  }
  return requests;
}
