/** The complete public surface of the package: every name here is API, and test/package.test.ts holds the list. */
export { isPondError, PondError } from "./base/errors.ts";
export type { ErrorCode, ErrorDetails, ErrorReason } from "./base/errors.ts";
