/** What every operation that reads sources has in common: which it reads, and what could not be read as it is. */

/** Which clients and places an operation reads. */
export interface SourceFilter {
  /** Names of clients; all enabled ones when absent. */
  readonly adapters?: readonly string[];
  /** Folders or files to read instead; needs exactly one client. */
  readonly paths?: readonly string[];
}

/** What could not be read as it is. */
export interface SourceIssue {
  readonly kind: string;
  readonly adapter: string;
  /** The file or database. */
  readonly path: string;
  /** 1-based. */
  readonly line?: number;
  /** Bytes from the start of the file. */
  readonly offset?: number;
  readonly message: string;
}
