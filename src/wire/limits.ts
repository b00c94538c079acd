/** Bounds and defaults of the wire, shared by the schemas, the handlers and the command line. */

export const PROTOCOL_VERSION = 1;

export const GET_LIMITS = { default: 20, most: 1000 } as const;
export const CONTEXT_LIMITS = { default: 3, most: 50 } as const;
/** Sessions of one page of hits. */
export const SEARCH_LIMITS = { default: 10, most: 200 } as const;
export const SESSIONS_LIMITS = { default: 50, most: 1000 } as const;
/** Characters of a query. */
export const MAX_QUERY = 4000;
/** Bytes of text that one page of `get` aims at; a single message may be larger, it is never cut. */
export const PAGE_BYTES = 160_000;
/** Events of one request of `ingest`. */
export const MAX_EVENTS = 1000;
