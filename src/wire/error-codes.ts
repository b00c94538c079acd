/** What each code of an error (spec.md#error-model) means to HTTP and MCP: the one table. */
import type { ErrorCode } from "../base/errors.ts";

export interface CodeMeaning {
  readonly http: number;
  readonly mcp: number;
  /** The same request may succeed later. */
  readonly retryable: boolean;
}

export const CODES: Readonly<Record<ErrorCode, CodeMeaning>> = {
  validation_failed: { http: 400, mcp: -32_010, retryable: false },
  version_unsupported: { http: 400, mcp: -32_011, retryable: false },
  not_found: { http: 404, mcp: -32_012, retryable: false },
  namespace_unknown: { http: 403, mcp: -32_013, retryable: false },
  storage_unavailable: { http: 503, mcp: -32_014, retryable: true },
  conflict: { http: 409, mcp: -32_015, retryable: true },
  internal: { http: 500, mcp: -32_016, retryable: false },
};
