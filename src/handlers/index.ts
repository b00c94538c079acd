/** The operations of pond as plain functions of (context, request): what every transport calls (spec.md#wire-handlers). */
export type { AdapterReport } from "./adapters.ts";
export { listAdapters } from "./adapters.ts";
export type { Context, ContextOptions } from "./context.ts";
export { createContext } from "./context.ts";
export type { Finding } from "./doctor.ts";
export { doctor } from "./doctor.ts";
export type { InitLook, InitReport } from "./init.ts";
export { init, lookAround } from "./init.ts";
export type { RestoreReport, RestoreRequest } from "./restore.ts";
export { restore } from "./restore.ts";
export type { SourceFilter } from "./sources.ts";
export type { ClientReport, Stage, SyncProgress, SyncReport, SyncRequest } from "./sync-report.ts";
export { STAGES } from "./sync-report.ts";
export type { SyncHooks } from "./sync.ts";
export { sync } from "./sync.ts";
export type { ClientVerification, VerifyProgress, VerifyReport } from "./verify.ts";
export { verify } from "./verify.ts";
