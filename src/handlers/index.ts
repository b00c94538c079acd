/**
 * The operations of pond as plain functions of (context, request): what every transport calls (spec.md#wire-handlers).
 * Each is loaded when it is called, so that a command starts with its own code and no other's.
 */
import { unlessAborted } from "../base/waiting.ts";
import type { Context } from "./context/context.ts";

export type { Context, ContextOptions } from "./context/context.ts";
export { createContext } from "./context/context.ts";
export type { Demo } from "./setup/demo.ts";
export type { RestoreHooks } from "./restore/restore.ts";
export type { SyncHooks } from "./sync/sync.ts";
export { describeWaits } from "./sources/waits.ts";

export const doctor = reading(async () => (await import("./health/doctor.ts")).doctor);
export const explainSearch = reading(async () => (await import("./read/search.ts")).explainSearch);
export const get = reading(async () => (await import("./read/get.ts")).get);
export const ingest = later(async () => (await import("./ingest.ts")).ingest);
export const init = later(async () => (await import("./setup/init.ts")).init);
export const listAdapters = reading(async () => (await import("./setup/adapters.ts")).listAdapters);
export const listSessions = reading(async () => (await import("./read/sessions.ts")).listSessions);
export const surveyMachine = reading(async () => (await import("./setup/init.ts")).surveyMachine);
export const openDemo = later(async () => (await import("./setup/demo.ts")).openDemo);
export const repair = later(async () => (await import("./health/repair.ts")).repair);
export const resolveParent = reading(async () => (await import("./context/find.ts")).resolveParent);
export const resolveRestorable = reading(async () => (await import("./context/find.ts")).resolveRestorable);
export const resolveSession = reading(async () => (await import("./context/find.ts")).resolveSession);
export const resolveTarget = reading(async () => (await import("./context/find.ts")).resolveTarget);
export const restore = later(async () => (await import("./restore/restore.ts")).restore);
export const search = reading(async () => (await import("./read/search.ts")).search);
export const shortIds = reading(async () => (await import("./context/find.ts")).shortIds);
export const status = reading(async () => (await import("./health/status.ts")).status);
export const sync = later(async () => (await import("./sync/sync.ts")).sync);
export const verify = later(async () => (await import("./verify/verify.ts")).verify);
export const verifyFiles = later(async () => (await import("./verify/stored.ts")).verifyFiles);
export const verifyStored = later(async () => (await import("./verify/stored.ts")).verifyStored);

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
