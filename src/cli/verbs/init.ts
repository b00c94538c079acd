/** `pond init`: looks around, asks for the store and for a model of vectors, writes the settings once. */
import { toPondError } from "../../base/errors.ts";
import { optional } from "../../base/optional.ts";
import { loadConfig } from "../../config/index.ts";
import { init as setUp, surveyMachine } from "../../handlers/index.ts";
import { ask, canAsk } from "../terminal/ask.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import type { Outcome } from "../terminal/exit.ts";
import { wordedError } from "../terminal/next-step.ts";
import { counted, size } from "../terminal/number.ts";
import type { initFlags } from "../command/verb-flags.ts";
import type { InitEmbeddings, InitReport } from "../../wire/setup.ts";

export async function init(verb: VerbContext<typeof initFlags>): Promise<Outcome> {
  const { flags, out } = verb;
  await using context = await openContext(verb);
  const survey = await surveyMachine(context);
  const asks = !flags.yes && !survey.config_exists && flags.store === undefined && canAsk();
  const store = asks ? await askForStore(verb, survey.store) : survey.store;
  const embeddings = asks
    ? await askForEmbeddings(verb, context.config.values.embeddings.provider)
    : undefined;
  const report = await setUp(context, { store, ...optional("embeddings", embeddings) });
  out.result(report, () => render(report));
  if (survey.config_exists && flags.store !== undefined)
    out.note(`note: --store applied to this command only; storage.url in ${survey.config_file} is as it was`);
  return "done";
}

/** Until the answer can stand in the settings: a file that is not right would stop every later command. */
async function askForStore({ env, flags, out, signal }: VerbContext, fallback: string): Promise<string> {
  for (;;) {
    const text = await ask("Where should pond keep its store?", fallback, signal);
    try {
      const answer = [{ key: "storage.url" as const, name: text, text }];
      return (await loadConfig({ environment: env, given: answer, file: flags.config })).values.storage.url;
    } catch (error) {
      const { message, hint = "" } = wordedError(toPondError(error));
      out.note(`${message}; ${hint}`);
    }
  }
}

/** The provider and, behind a space, what it needs most: its folder or its model. Nothing where it is the default. */
async function askForEmbeddings(
  { env, flags, out, signal }: VerbContext,
  fallback: string,
): Promise<InitEmbeddings | undefined> {
  const question =
    "Search by meaning, too? static (comes with pond), none, onnx <folder>, ollama <model> or openai <model>";
  for (;;) {
    const text = await ask(question, fallback, signal);
    const [, provider = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(text) ?? [];
    const name = provider === "onnx" ? "folder" : "model";
    const given = [
      { key: "embeddings.provider" as const, name: "that", text: provider },
      ...(rest === "" ? [] : [{ key: `embeddings.${name}` as const, name: "that", text: rest }]),
    ];
    try {
      const { values } = await loadConfig({ environment: env, given, file: flags.config });
      if (provider === fallback && rest === "") return undefined;
      if (rest !== "" || (provider !== "onnx" && provider !== "ollama"))
        return { provider, ...optional(name, rest === "" ? undefined : values.embeddings[name]) };
      out.note(`${provider} needs its ${name}; write it behind: ${provider} <${name}>`);
    } catch (error) {
      const { message, hint = "" } = wordedError(toPondError(error));
      out.note(`${message}; ${hint}`);
    }
  }
}

function render(report: InitReport): string {
  const found = report.clients.filter(({ files }) => files > 0);
  const clients = found.map(
    ({ title, files, bytes }) => `  ${title}: ${counted(files, "source")}, ${size(bytes)}`,
  );
  return [
    report.changed.length === 0
      ? `settings: ${report.config_file} exists and was left as it is`
      : `settings: wrote ${report.config_file}`,
    `store:    ${report.store}`,
    found.length === 0 ? "clients:  none found (`pond adapters` lists the places pond reads)" : "clients:",
    ...clients,
    "",
    found.length === 0 ? "next: pond demo" : "next: pond sync",
  ].join("\n");
}
