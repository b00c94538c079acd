/** The plain interfaces and the schemas are the same types: neither can gain or lose a field alone. */
import type { z } from "zod";
import type {
  errorBodySchema,
  getRequestSchema,
  getResponseSchema,
  searchRequestSchema,
  searchResponseSchema,
  sessionsRequestSchema,
  sessionsResponseSchema,
} from "./schema.ts";
import type {
  ErrorBody,
  GetRequest,
  GetResponse,
  SearchRequest,
  SearchResponse,
  SessionsRequest,
  SessionsResponse,
} from "./types.ts";

/** True where each can stand for the other and no field is in one alone, at any depth. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Leaf = string | number | boolean | null | undefined;
/** Every path to a field, through lists and the members of unions; options and JSON values are leaves. */
type Paths<T, Depth extends readonly 0[] = []> = Depth["length"] extends 6
  ? never
  : T extends Leaf
    ? never
    : T extends readonly (infer Item)[]
      ? Paths<Item, [...Depth, 0]>
      : T extends object
        ? string extends keyof T
          ? never
          : {
              [K in keyof T & string]:
                | K
                | (K extends "params" | "result" | "details" ? never : `${K}.${Paths<T[K], [...Depth, 0]>}`);
            }[keyof T & string]
        : never;
type Equal<A, B> = Same<A, B> extends true ? Same<Paths<A>, Paths<B>> : false;
type Checked<T extends true> = T;

/** The envelope is the transport's. */
type Request<S extends z.ZodType> = Omit<z.input<S>, "protocol_version" | "namespace">;

export type GetRequestIsItsSchema = Checked<Equal<GetRequest, Request<typeof getRequestSchema>>>;
export type SearchRequestIsItsSchema = Checked<Equal<SearchRequest, Request<typeof searchRequestSchema>>>;
export type SessionsRequestIsItsSchema = Checked<
  Equal<SessionsRequest, Request<typeof sessionsRequestSchema>>
>;
/** Read-only lists cannot stand for those of zod, which are not. */
type Plain<T> = T extends readonly (infer Item)[]
  ? readonly Plain<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Plain<T[K]> }
    : T;
export type GetResponseIsItsSchema = Checked<Equal<GetResponse, Plain<z.input<typeof getResponseSchema>>>>;
export type SearchResponseIsItsSchema = Checked<
  Equal<SearchResponse, Plain<z.input<typeof searchResponseSchema>>>
>;
export type SessionsResponseIsItsSchema = Checked<
  Equal<SessionsResponse, Plain<z.input<typeof sessionsResponseSchema>>>
>;
export type ErrorBodyIsItsSchema = Checked<Equal<ErrorBody, Plain<z.input<typeof errorBodySchema>>>>;

type WithLess = Omit<SearchResponse, "has_more">;
// @ts-expect-error a type that lost a field is another one
export type LostFieldIsSeen = Checked<Equal<WithLess, Plain<z.input<typeof searchResponseSchema>>>>;
type WithMore = Omit<SearchRequest, "filters"> & {
  readonly filters?: SearchRequest["filters"] & { readonly more?: string };
};
// @ts-expect-error a type with a field more, deep inside, is another one
export type NewFieldIsSeen = Checked<Equal<WithMore, Request<typeof searchRequestSchema>>>;
