/** `pond config show|path|schema`. */
import { access } from "node:fs/promises";
import { isSecret, shownValue } from "../../config/describe.ts";
import { configFile, describeSource } from "../../config/index.ts";
import { configJsonSchema } from "../../config/json-schema.ts";
import type { VerbContext } from "../command/command.ts";
import type { Outcome } from "../terminal/exit.ts";

export async function show({ out, config }: VerbContext): Promise<Outcome> {
  const { settings, file, unknownVariables } = await config();
  const rows = settings.map((setting) => ({
    key: setting.path.join("."),
    value: shownValue(setting),
    source: describeSource(setting.source),
    ...(isSecret(setting) && { secret: true }),
  }));
  out.result({ file: file.path, settings: rows }, () =>
    out.table(rows, [
      { header: "KEY", cell: (row) => row.key },
      { header: "VALUE", cell: (row) => shownText(row.value), cut: "start" },
      { header: "SOURCE", cell: (row) => row.source, style: out.style.dim },
    ]),
  );
  for (const name of unknownVariables) out.note(`note: ${name} is set, but no setting has that variable`);
  return "done";
}

export async function path({ out, env, flags }: VerbContext): Promise<Outcome> {
  const file = configFile({ environment: env, file: flags.config });
  const exists = await access(file.path).then(
    () => true,
    () => false,
  );
  out.result({ path: file.path, exists }, () => file.path);
  if (!exists) out.note("note: the file does not exist yet; every command works without it");
  return "done";
}

export async function schema({ out }: VerbContext): Promise<Outcome> {
  out.print(JSON.stringify(configJsonSchema(), undefined, 2));
  return "done";
}

const shownText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
