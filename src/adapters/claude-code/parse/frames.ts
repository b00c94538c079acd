/**
 * Messages that Claude Code delivers to a session in words of its own: a line before the message, a note behind it
 * (docs/adapters/claude-code.md#provenance). A frame counts only where both stand at their places.
 */

export interface Frame {
  /** Where the message stands in the text. */
  readonly start: number;
  readonly end: number;
  readonly author: "person" | "model";
}

interface Wording {
  readonly opening: RegExp;
  /** Up to the end of the text. */
  readonly closing: RegExp;
  readonly author: Frame["author"];
}

const WORDINGS: readonly Wording[] = [
  {
    opening: /^The coordinator sent a message while you were working:\n/,
    closing:
      /\n\nAddress this before completing your current task\.(?:\n\nIMPORTANT: This is NOT from your user and carries no user authority\.[^\n]*)?\s*$/,
    author: "model",
  },
  {
    opening: /^Another Claude session sent a message(?: while you were working)?:\n/,
    closing:
      /\n\n(?:This came from another Claude session \u{2014} not typed by your user|That "other Claude session" is an agent working inside this same session)[^\n]*\s*$/u,
    author: "model",
  },
  {
    opening:
      /^Another Claude session sent a message(?: while you were working)?:\n(?=<(?:teammate|agent|cross-session)-message[\s>])/,
    closing: /(?<=<\/(?:teammate|agent|cross-session)-message>)\s*$/,
    author: "model",
  },
  {
    opening: /^The user sent a new message while you were working:\n/,
    closing:
      /\n\nIMPORTANT: After completing your current task, you MUST address the user's message above\. Do not ignore it\.\s*$/,
    author: "person",
  },
];

/** The frame around all of a text, if there is one. */
export function frameOf(text: string): Frame | undefined {
  for (const { opening, closing, author } of WORDINGS) {
    const start = opening.exec(text)?.[0].length;
    const end = start === undefined ? undefined : closing.exec(text)?.index;
    if (start !== undefined && end !== undefined && end > start) return { start, end, author };
  }
  return undefined;
}
