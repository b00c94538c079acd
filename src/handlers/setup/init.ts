/** `init`: the first set-up (spec.md#cli-first-minute), safe to run again. Looks first, changes only what is missing. */
import { stat } from "node:fs/promises";
import { createConfigFile } from "../../config/create.ts";
import type { InitLook, InitReport, InitRequest } from "../../wire/setup.ts";
import { listAdapters } from "./adapters.ts";
import type { Context } from "../context/context.ts";

export async function lookAround(context: Context): Promise<InitLook> {
  const { path } = context.config.file;
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  const clients = await listAdapters(context);
  return { config_file: path, config_exists: exists, store: context.config.values.storage.url, clients };
}

/** Writes the configuration file if there is none; an existing one is never touched. */
export async function init(context: Context, choice: InitRequest): Promise<InitReport> {
  const look = await lookAround(context);
  if (look.config_exists) return { ...look, changed: [] };
  const created = await createConfigFile(look.config_file, { storageUrl: choice.store });
  return { ...look, store: choice.store, changed: created ? [look.config_file] : [] };
}
