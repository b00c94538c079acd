/** What an adapter could not read as it stands: typed, located, counted (spec.md#adapter-integrity-no-silent-drops). */

export type IssueKind =
  /** A terminated line that is not JSON; kept whole as a carrier. */
  | "not_json"
  /** An object with the same key twice; the line is kept whole as a carrier. */
  | "duplicate_keys"
  /** Bytes that are not UTF-8; the line is kept whole as a carrier. */
  | "invalid_utf8"
  /** Several records on one line; all are kept. */
  | "glued_records"
  /** A line or file larger than pond can hold; not stored. */
  | "too_long"
  /** A value past the size bound; stored as its head and a marker with the byte count. */
  | "truncated_value"
  /** The source records no project anywhere; the session is refused. */
  | "no_project"
  /** The source records no instant anywhere; the session is refused. */
  | "no_timestamp"
  /** Two sources claim the same session; the second is stored under an id of its own, or refused. */
  | "duplicate_session"
  /** A file or row that could not be opened or read. */
  | "unreadable"
  /** Well-formed input whose shape no version of the client is known to write. */
  | "unexpected_shape";

/** One thing that could not be read as it is, and where. */
export interface Issue {
  readonly kind: IssueKind;
  readonly adapter: string;
  /** The file or database. */
  readonly path: string;
  /** 1-based. */
  readonly line?: number;
  /** Bytes from the start of the file. */
  readonly offset?: number;
  readonly message: string;
}

/** What is wrong with one file, whichever client's it is. */
export type SourceFault = Pick<Issue, "kind" | "path" | "message">;

/** The same as a reader yields it. */
export function issueOf(
  { kind, path, message }: SourceFault,
  adapter: string,
): { readonly kind: "issue"; readonly issue: Issue } {
  return { kind: "issue", issue: { kind, adapter, path, message } };
}

/** `path:line (byte offset)`: where to look. */
export function locate(issue: Issue): string {
  const line = issue.line === undefined ? "" : `:${issue.line}`;
  const offset = issue.offset === undefined ? "" : ` (byte ${issue.offset})`;
  return `${issue.path}${line}${offset}`;
}
