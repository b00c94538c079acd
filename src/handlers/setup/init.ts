/** `init`: the first set-up (spec.md#cli-first-minute), safe to run again. Looks first, changes only what is missing. */
import { stat } from "node:fs/promises";
import { createConfigFile } from "../../config/create.ts";
import type { InitSurvey, InitReport, InitRequest } from "../../wire/setup.ts";
import { listAdapters } from "./adapters.ts";
import type { Context } from "../context/context.ts";

export async function surveyMachine(context: Context): Promise<InitSurvey> {
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
  const survey = await surveyMachine(context);
  if (survey.config_exists) return { ...survey, changed: [] };
  const created = await createConfigFile(survey.config_file, {
    storageUrl: choice.store,
    ...(choice.embeddings && { embeddings: choice.embeddings }),
  });
  return { ...survey, store: choice.store, changed: created ? [survey.config_file] : [] };
}
