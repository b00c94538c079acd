import { describe, expect, test } from "vitest";
import { PondError } from "../base/errors.ts";
import { errorBody } from "../base/errors.ts";
import { CODES } from "./index.ts";
import {
  errorBodySchema,
  getRequestSchema,
  parseRequest,
  searchRequestSchema,
  sessionsRequestSchema,
  wireJsonSchema,
} from "./schema.ts";

describe("a request", () => {
  test.each<[string, Parameters<typeof parseRequest>[0], object]>([
    ["get", getRequestSchema, { session_id: "s", response_mode: "verbatim", limit: 1000, branch: "all" }],
    [
      "search",
      searchRequestSchema,
      { query: "x", filters: { project: { prefix: "/p" }, from_date: "2026-01-02" } },
    ],
    [
      "search for tools that failed on a day",
      searchRequestSchema,
      {
        query: "x",
        filters: { tool_name: "Bash", failed_only: true, to_date: "2026-01-02", time_zone: "+02:00" },
      },
    ],
    [
      "sessions",
      sessionsRequestSchema,
      { project: "p", include_subagents: true, to_date: "2026-01-02T03:04:05Z" },
    ],
  ])("to %s is accepted with its envelope", (_, schema, body) => {
    const request = { protocol_version: 1, namespace: "default", ...body };
    expect(parseRequest(schema, request)).toEqual(request);
  });

  test.each<[string, unknown, string, object]>([
    ["another protocol", { protocol_version: 2 }, "version_unsupported", { received: 2, supported: [1] }],
    ["no protocol", { session_id: "s" }, "validation_failed", { issues: [{ field: "protocol_version" }] }],
    ["no object", "hello", "validation_failed", {}],
    [
      "a limit past the bound",
      { protocol_version: 1, limit: 1001 },
      "validation_failed",
      { issues: [{ field: "limit" }] },
    ],
    ["a field that nobody knows", { protocol_version: 1, sesion_id: "s" }, "validation_failed", {}],
    [
      "an empty id",
      { protocol_version: 1, session_id: "" },
      "validation_failed",
      { issues: [{ field: "session_id" }] },
    ],
  ])("with %s is refused", (_, body, code, data) => {
    const refuse = (): unknown => parseRequest(getRequestSchema, body);
    expect(refuse).toThrow(PondError);
    try {
      refuse();
    } catch (error) {
      expect(error).toMatchObject({ code, data });
    }
  });
});

test.each([
  [{ filters: { tool: "Bash" } }, "filters.tool is no field of it"],
  [{ filters: { tool_name: "" } }, "filters.tool_name must not be empty"],
  [{ filters: { failed_only: "yes" } }, 'filters.failed_only must be true or false, not "yes"'],
  [{ filters: { time_zone: 2 } }, "filters.time_zone must be a text, not 2"],
])("a search with %j is refused in plain words", (body, message) => {
  expect(() => parseRequest(searchRequestSchema, { protocol_version: 1, query: "x", ...body })).toThrow(
    message,
  );
});

test("an error has one shape, and every code a meaning for HTTP and MCP", () => {
  const body = errorBody(
    new PondError("not_found", "no session x", { hint: "pond sessions", data: { id: "x" } }),
  );
  expect(body).toEqual({
    error: { code: "not_found", message: "no session x", details: { id: "x", hint: "pond sessions" } },
  });
  expect(errorBodySchema.safeParse(body).success).toBe(true);
  const codes = errorBodySchema.shape.error.shape.code.options;
  expect(Object.keys(CODES).toSorted()).toEqual(codes.toSorted());
  expect(new Set(Object.values(CODES).map(({ mcp }) => mcp)).size).toBe(codes.length);
});

test("the published JSON Schema names every request and response", () => {
  expect(Object.keys(wireJsonSchema()["$defs"] as object)).toEqual([
    "GetRequest",
    "GetResponse",
    "SearchRequest",
    "SearchResponse",
    "SessionsRequest",
    "SessionsResponse",
    "ErrorBody",
  ]);
});
