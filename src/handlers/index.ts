/**
 * The operations of pond as plain functions of (context, request): what every transport calls (spec.md#wire-handlers).
 * Each is loaded when it is called, so that a command starts with its own code and no other's.
 */
import { unlessAborted } from "../base/waiting.ts";
import type { Context } from "./context.ts";

export type { AdapterReport } from "./adapters.ts";
export type { Context, ContextOptions } from "./context.ts";
export { createContext } from "./context.ts";
export type { Demo } from "./demo.ts";
export type { Finding } from "./doctor.ts";
export type { InitLook, InitReport } from "./init.ts";
export type { FileDamage } from "./file-damage.ts";
export type { RepairReport } from "./repair.ts";
export type { RestoreReport, RestoreRequest } from "./restore.ts";
export type { SourceFilter } from "./sources.ts";
export type { GroupCount, StatusReport } from "./status.ts";
export type { ClientReport, Stage, SyncProgress, SyncReport, SyncRequest } from "./sync-report.ts";
export { STAGES } from "./sync-report.ts";
export type { SyncHooks } from "./sync.ts";
export { describeWaits } from "./waits.ts";
export type { VerifyProgress } from "./verify.ts";
export type { ClientVerification, VerifyReport } from "./verify-report.ts";
export type { FilesReport, StoredReport, StoredVerification } from "./verify-stored.ts";

export const doctor = reading(async () => (await import("./doctor.ts")).doctor);
export const explainSearch = reading(async () => (await import("./search.ts")).explainSearch);
export const get = reading(async () => (await import("./get.ts")).get);
export const init = later(async () => (await import("./init.ts")).init);
export const listAdapters = reading(async () => (await import("./adapters.ts")).listAdapters);
export const listSessions = reading(async () => (await import("./sessions.ts")).listSessions);
export const lookAround = reading(async () => (await import("./init.ts")).lookAround);
export const openDemo = later(async () => (await import("./demo.ts")).openDemo);
export const repair = later(async () => (await import("./repair.ts")).repair);
export const resolveParent = reading(async () => (await import("./find.ts")).resolveParent);
export const resolveRestorable = reading(async () => (await import("./find.ts")).resolveRestorable);
export const resolveSession = reading(async () => (await import("./find.ts")).resolveSession);
export const resolveTarget = reading(async () => (await import("./find.ts")).resolveTarget);
export const restore = later(async () => (await import("./restore.ts")).restore);
export const search = reading(async () => (await import("./search.ts")).search);
export const shortIds = reading(async () => (await import("./find.ts")).shortIds);
export const status = reading(async () => (await import("./status.ts")).status);
export const sync = later(async () => (await import("./sync.ts")).sync);
export const verify = later(async () => (await import("./verify.ts")).verify);
export const verifyFiles = later(async () => (await import("./verify-stored.ts")).verifyFiles);
export const verifyStored = later(async () => (await import("./verify-stored.ts")).verifyStored);

/** The same for what only reads: it is left as soon as the context's signal is aborted, however busy the engine is. */
function reading<Input extends readonly unknown[], Output>(
  load: () => Promise<(context: Context, ...input: Input) => Promise<Output>>,
): (context: Context, ...input: Input) => Promise<Output> {
  const run = later(load);
  return (context, ...input) => unlessAborted(context.signal, run(context, ...input));
}

function later<Input extends readonly unknown[], Output>(
  load: () => Promise<(...input: Input) => Promise<Output>>,
): (...input: Input) => Promise<Output> {
  return async (...input) => (await load())(...input);
}
