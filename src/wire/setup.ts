/** `adapters`: every client that pond knows, and what is there of it. `init`: what a first set-up found. */
import type { SourceIssue } from "./sources.ts";

export interface AdapterReport {
  readonly adapter: string;
  readonly title: string;
  readonly enabled: boolean;
  /** `own-sessions`: it takes its own back, and none of another client. */
  readonly restore: "supported" | "own-sessions" | "unsupported";
  readonly places: readonly PlaceReport[];
  /** Where the client would keep sessions, too, but nothing is there. */
  readonly absent: readonly PlaceReport[];
  readonly files: number;
  readonly bytes: number;
  /** The newest change; absent when nothing was found. */
  readonly newest?: string;
  /** What could not be looked at. */
  readonly issues: readonly SourceIssue[];
}

export interface PlaceReport {
  readonly path: string;
  /** `default` and `environment` are the client's own places. */
  readonly origin: "default" | "environment" | "config" | "request";
  /** The client's own variable that names it. */
  readonly variable?: string;
}

export interface InitRequest {
  /** Address of the store, for the settings. */
  readonly store: string;
  /** Who makes vectors, where that is not the default. */
  readonly embeddings?: InitEmbeddings;
}

export interface InitEmbeddings {
  readonly provider: string;
  readonly model?: string;
  readonly folder?: string;
}

export interface InitSurvey {
  readonly config_file: string;
  readonly config_exists: boolean;
  readonly store: string;
  readonly clients: readonly AdapterReport[];
}

export interface InitReport extends InitSurvey {
  /** What this run changed; empty when everything was there. */
  readonly changed: readonly string[];
}
