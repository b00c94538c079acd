/** The types of the wire, inferred from its schemas; importing them costs nothing at run time. */
import type { z } from "zod";
import type {
  errorBodySchema,
  getRequestSchema,
  getResponseSchema,
  messageViewSchema,
  partSummarySchema,
  searchRequestSchema,
  searchResponseSchema,
  sessionsRequestSchema,
  sessionsResponseSchema,
  sessionSummarySchema,
} from "./schema.ts";

type Plain<T> = T extends readonly (infer Item)[]
  ? readonly Plain<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Plain<T[K]> }
    : T;

/** A request as a handler takes it: the envelope is the transport's. */
type Request<S extends z.ZodType> = Plain<Omit<z.input<S>, "protocol_version" | "namespace">>;
type Response<S extends z.ZodType> = Plain<z.input<S>>;

export type GetRequest = Request<typeof getRequestSchema>;
export type GetResponse = Response<typeof getResponseSchema>;
export type SessionResult = Extract<GetResponse, { scope: "session" }>;
export type MessageResult = Extract<GetResponse, { scope: "message" }>;
export type SessionHead = GetResponse["session"];
export type ResponseMode = SessionResult["response_mode"];
export type StateView = NonNullable<SessionResult["states"]>[number];
export type EndView = NonNullable<SessionResult["ends"]>[number];
export type ChildView = SessionResult["children"][number];
export type IssueView = NonNullable<SessionResult["issues"]>[number];
export type MessageView = Response<typeof messageViewSchema>;
/** Of a row that is not in the newest end. */
export type RowState = NonNullable<MessageView["state"]>;
export type WirePart = NonNullable<MessageView["parts"]>[number];
export type PartSummary = Response<typeof partSummarySchema>;

export type SearchRequest = Request<typeof searchRequestSchema>;
export type SearchFilters = NonNullable<SearchRequest["filters"]>;
export type SearchMode = NonNullable<SearchRequest["mode"]>;
export type SearchResponse = Response<typeof searchResponseSchema>;
export type HitSession = SearchResponse["sessions"][number];
export type Hit = HitSession["matches"][number];

export type SessionsRequest = Request<typeof sessionsRequestSchema>;
export type SessionsResponse = Response<typeof sessionsResponseSchema>;
export type SessionLine = Response<typeof sessionSummarySchema>;
export type ProjectFilter = NonNullable<SessionsRequest["project"]>;

export type ErrorBody = Response<typeof errorBodySchema>;
