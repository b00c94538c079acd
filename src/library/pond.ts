/** A store that a program has open, and what it can do with it: every operation of pond as a method. */
import type { Adapter } from "../adapters/index.ts";
import type { Clock } from "../base/clock.ts";
import type { TreeRef, TreeSource } from "../model/tree/index.ts";
import type {
  GetRequest,
  GetResponse,
  IngestRequest,
  IngestResponse,
  SearchRequest,
  SearchResponse,
  SessionsRequest,
  SessionsResponse,
} from "../wire/index.ts";
import type { AdapterReport } from "../wire/setup.ts";
import type { RestoreReport, RestoreRequest } from "../wire/restore.ts";
import type { SourceFilter } from "../wire/sources.ts";
import type { SyncProgress, SyncReport, SyncRequest } from "../wire/sync.ts";
import type { VerifyReport } from "../wire/verify.ts";

export interface OpenOptions {
  /** A path, or a file://, s3://, gs://, az:// or memory:// URL. Default: as `pond` itself, by its settings. */
  readonly store?: string;
  /** Default: by the settings, else `default`. */
  readonly namespace?: string;
  /** The folder of what is remembered beside the store (cursors, locks, scratch). Default: that of `pond` itself. */
  readonly state?: string;
  /** The environment: `POND_*` settings, and the variables by which clients name their places. Default: the process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where clients keep their sessions, and where the settings are. Default: the user's home. */
  readonly home?: string;
  /** Clients beside those that pond knows, for this pond only (`pond-db/adapters`). Their logs are read in this thread. */
  readonly adapters?: readonly Adapter[];
  /** Aborting it ends a sync at its next commit and leaves reads. */
  readonly signal?: AbortSignal;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

export interface SyncHooks {
  readonly onProgress?: (progress: SyncProgress) => void;
}

export interface TreeOptions {
  /** Payloads of files too; default true. */
  readonly payloads?: boolean;
}

export interface Pond extends AsyncDisposable {
  /** Reads what changed in the clients' sessions on this machine, and brings the indexes up to date. */
  sync(request?: SyncRequest, hooks?: SyncHooks): Promise<SyncReport>;
  /** Stores events that this program made. */
  ingest(request: IngestRequest): Promise<IngestResponse>;
  /** Finds messages by words, exact text or pattern. */
  search(request: SearchRequest): Promise<SearchResponse>;
  /** Reads a session page by page, or one message with its neighbours. */
  get(request: GetRequest): Promise<GetResponse>;
  /** Lists sessions, the newest first. */
  sessions(request?: SessionsRequest): Promise<SessionsResponse>;
  /** Writes a session and its descendants as files of a client. */
  restore(request: RestoreRequest): Promise<RestoreReport>;
  /** Proves that what is on disk is stored and restores equal to it. */
  verify(request?: SourceFilter): Promise<VerifyReport>;
  /** The stored sessions as trees, for `planTree`, `resolveTree`, `hydrateTree` and `loadTree` of `pond-db/model`. */
  tree(options?: TreeOptions): Promise<TreeSource<TreeRef>>;
  /** Every client pond knows or was given, and what of it is on this machine. */
  adapters(request?: SourceFilter): Promise<readonly AdapterReport[]>;
  /** Waits for what is in flight, then closes the store. The same as leaving the scope of `await using`. */
  close(): Promise<void>;
}
