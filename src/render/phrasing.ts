/** What a surface calls things, and how it shows text: given to what is the same for every surface. */

/** How a surface says what to ask next, and what it must not print. */
export interface Phrasing {
  /** Makes text harmless to who reads it. */
  readonly clean: (text: string) => string;
  /** The same for what stands in one line, whatever it holds. */
  readonly line: (text: string) => string;
  /** Titles, and what is beside the point; plain where there are no colours. */
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  /** What was looked for; as the rest of the text where it is absent. */
  readonly match?: (text: string) => string;
  /** Columns of the terminal, where there is one. */
  readonly width?: number;
  /** Text in lines that fit; as it is where it is absent. */
  readonly wrap?: (text: string) => string;
  /** What opens one hit, in a line of its own; absent where a single line for all of them says it. */
  readonly open?: (session: string, message: string) => string;
  readonly after: (id: string) => string;
  readonly before: (id: string) => string;
  readonly cursor: (token: string) => string;
  readonly message: string;
  readonly session: string;
  readonly allBranches: string;
  readonly end: (number: number) => string;
  readonly history: string;
  readonly state: (session: string, number: number, source: string | undefined) => string;
  /** Absent when the sessions of subagents were looked at, too. */
  readonly subagents?: string;
  readonly exact: string;
}
